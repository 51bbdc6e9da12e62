#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the law of the rooms: who may include whom, and the habits every source file keeps.

usage: include_law.py SOURCE_DIR            exit 1 and one line a violation
       include_law.py --self-test SOURCE_DIR   proves that each rule can fail
"""
import re
import subprocess
import sys
from pathlib import Path

ROOTS = ("results-schema", "backends", "kernels", "suite", "tests")
MAX_LINES = 400
STANDARD_C = {"stddef.h", "stdint.h", "stdbool.h", "limits.h"}
VENDOR = re.compile(r"^(cuda|hip|cublas|rocblas|nvml|amd_smi|rocm_smi|driver_types|nvrtc|mma\.h)")
GENERATED = ("assay_generated/", "suite_version.inc")  # written by the build
VENDOR_ROOMS = ("backends/cuda/", "backends/hip/", "kernels/common/")
# A kernel's face towards the program: parameters, fp64 reference, cost model, tolerance rule, 16-bit storage types.
KERNEL_FACE = re.compile(r"^kernels/[a-z_]+/(params|reference|model)\.hpp$|^kernels/common/(kernel|storage|tolerance|model)\.hpp$")

# room -> prefixes of our own headers it may include; the longest matching room decides.
LAW = {
    "results-schema/types/": ("results-schema/types/",),
    "results-schema/json/": ("results-schema/types/", "results-schema/json/"),
    "backends/abi/": (),
    "backends/device/": ("backends/device/", "backends/abi/", "results-schema/types/"),
    "backends/allocator/": ("backends/allocator/", "backends/device/", "backends/abi/", "results-schema/types/"),
    "backends/host/": ("backends/host/", "backends/abi/", "kernels/"),
    "backends/gpu/": ("backends/gpu/", "backends/abi/", "kernels/"),
    "backends/cuda/": ("backends/cuda/", "backends/gpu/", "backends/abi/", "kernels/"),
    "backends/hip/": ("backends/hip/", "backends/gpu/", "backends/abi/", "kernels/"),
    "kernels/": ("kernels/",),
    "suite/": ("suite/", "backends/device/", "backends/allocator/", "backends/abi/", "results-schema/", "kernels/"),
    "tests/": ("",),
}


def room_of(path):
    return max((room for room in LAW if path.startswith(room)), key=len, default=None)


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1), match.group(2)


def check_include(path, room, kind, header):
    """The rule a single include breaks, or None."""
    if VENDOR.match(header) and not path.startswith(VENDOR_ROOMS) and not path.startswith("tests/"):
        return f"names the vendor header {header}, which only backends/cuda, backends/hip and the kernels' shim may"
    if kind == "<":
        if room == "backends/abi/" and header not in STANDARD_C:
            return f"includes <{header}>; the device table stands on the C standard library alone"
        if room == "results-schema/types/" and ("/" in header or header.endswith(".h")):
            return f"includes <{header}>; the types stand on the C++ standard library alone"
        return None
    if header.startswith("suite/") and not path.startswith(("suite/", "tests/")):
        return f"includes {header}; nothing below may include the suite"
    if header.startswith(GENERATED):
        return None
    if not header.startswith(ROOTS):
        return f"includes \"{header}\"; write our own headers from the repository root"
    if not any(header.startswith(prefix) for prefix in LAW[room]):
        return f"includes {header}, which the room {room} may not"
    if room == "suite/" and header.startswith("kernels/") and not KERNEL_FACE.match(header):
        return f"includes {header}; the suite sees of a kernel only parameters, reference and cost model"
    return None


def check_file(path, text):
    found = []
    lines = text.splitlines()
    marker = "//" if not path.endswith((".h", "CMakeLists.txt", ".cmake", ".py")) else ("/*" if path.endswith(".h") else "#")
    first = 1 if lines and lines[0].startswith("#!") else 0
    if len(lines) < first + 2 or "SPDX-License-Identifier: Apache-2.0" not in lines[first]:
        found.append((1, "first line is not the SPDX identifier"))
    elif not lines[first + 1].startswith((marker, '"""')) and not path.endswith((".json", ".py")):
        found.append((2, "second line is not a sentence of purpose"))
    if path.endswith((".cmake", "CMakeLists.txt")) and re.search(r"file\s*\(\s*GLOB", text):
        found.append((1, "lists sources with file(GLOB); name them"))
    if not path.endswith((".cpp", ".hpp", ".h")):
        return found
    if len(lines) > MAX_LINES:
        found.append((len(lines), f"has {len(lines)} lines, more than {MAX_LINES}: two rooms in one"))
    if path.endswith(".hpp") and "#pragma once" not in text:
        found.append((1, "header without #pragma once"))
    room = room_of(path)
    if room is None:
        found.append((1, "stands in no room of the house"))
        return found
    for number, kind, header in includes(text):
        broken = check_include(path, room, kind, header)
        if broken:
            found.append((number, broken))
    return found


def cycles(files):
    """Folders of rooms that include each other in a circle (a folder is two levels deep)."""
    def folder(path):
        return "/".join(path.split("/")[:2])
    edges = {}
    for path, text in files.items():
        if path.startswith("tests/") or not path.endswith((".cpp", ".hpp", ".h")):
            continue
        for _, kind, header in includes(text):
            if kind == '"' and header.startswith(ROOTS) and folder(header) != folder(path):
                edges.setdefault(folder(path), set()).add(folder(header))
    found, state = [], {}

    def walk(node, trail):
        state[node] = "open"
        for target in sorted(edges.get(node, ())):
            if state.get(target) == "open":
                found.append(" -> ".join(trail[trail.index(target):] + [target]) if target in trail else target)
            elif target not in state:
                walk(target, trail + [target])
        state[node] = "done"

    for node in sorted(edges):
        if node not in state:
            walk(node, [node])
    return found


def tracked(source):
    listed = subprocess.run(["git", "-C", str(source), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.splitlines()
    return [str(p.relative_to(source)) for root in ROOTS for p in (source / root).rglob("*") if p.is_file()]


def check_tree(files):
    found = []
    for path, text in sorted(files.items()):
        if path.endswith((".cu", ".cuh", ".hip", ".inl", ".inc")):
            found.append(f"{path}:1: sources are .cpp, .hpp, or .h for the C table")
        if path.endswith((".cpp", ".hpp", ".h", ".cmake", "CMakeLists.txt", ".py")):
            found += [f"{path}:{number}: {what}" for number, what in check_file(path, text)]
    found += [f"folders include each other in a circle: {trail}" for trail in cycles(files)]
    return found


def load(source):
    files = {}
    for path in tracked(source):
        full = source / path
        if full.is_file() and (path.endswith((".cpp", ".hpp", ".h", ".cmake", ".py", ".cu", ".cuh", ".hip", ".inl", ".inc"))
                               or full.name == "CMakeLists.txt"):
            files[path] = full.read_text(encoding="utf-8")
    return files


HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Purpose.\n#pragma once\n"
BROKEN = {  # path -> text that must be refused
    "results-schema/types/bad.hpp": HEAD + "#include <nlohmann/json.hpp>\n",
    "results-schema/json/bad.hpp": HEAD + '#include "backends/abi/assay_backend.h"\n',
    "backends/abi/bad.h": "/* SPDX-License-Identifier: Apache-2.0 */\n/* Purpose. */\n#include <vector>\n",
    "backends/device/bad.hpp": HEAD + '#include "kernels/copy/params.hpp"\n',
    "backends/allocator/bad.hpp": HEAD + '#include "suite/process/child.hpp"\n',
    "backends/gpu/bad.hpp": HEAD + "#include <cuda_runtime.h>\n",
    "backends/host/bad.hpp": HEAD + '#include "backends/gpu/table.hpp"\n',
    "backends/cuda/bad.hpp": HEAD + '#include "backends/host/host.hpp"\n',
    "kernels/copy/bad.hpp": HEAD + '#include "backends/abi/assay_backend.h"\n',
    "suite/run/bad.hpp": HEAD + '#include "kernels/copy/body.hpp"\n',
    "suite/run/vendor.hpp": HEAD + "#include <hip/hip_runtime.h>\n",
    "suite/run/relative.hpp": HEAD + '#include "../cli/app.hpp"\n',
    "suite/run/nospdx.hpp": "#pragma once\n",
    "suite/run/long.hpp": HEAD + "\n" * 500,
    "suite/run/kernel.cu": HEAD,
    "suite/bad/CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\n# Purpose.\nfile(GLOB sources *.cpp)\n",
}


def self_test(files):
    missed = [path for path, text in BROKEN.items() if not check_tree({path: text})]
    circle = {"suite/a/x.hpp": HEAD + '#include "suite/b/y.hpp"\n', "suite/b/y.hpp": HEAD + '#include "suite/a/x.hpp"\n'}
    if not cycles(circle):
        missed.append("the circle suite/a -> suite/b -> suite/a")
    for path in missed:
        print(f"self-test: {path} breaks the law and was not refused")
    return 1 if missed or not files else 0


def main():
    arguments = [a for a in sys.argv[1:] if a != "--self-test"]
    files = load(Path(arguments[0]).resolve())
    if "--self-test" in sys.argv:
        return self_test(files)
    found = check_tree(files)
    print("\n".join(found) if found else f"{len(files)} files keep the law")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
