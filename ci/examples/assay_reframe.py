# SPDX-License-Identifier: Apache-2.0
"""ReFrame (4 or newer): a new module against the old one on one board of each partition.

    reframe -c assay_reframe.py -r

Needs the program on PATH and both modules in a folder of ASSAY_MODULE_PATH. Add a pair to `modules_pair` and it becomes
a test of its own on every matching partition, which gives the matrix of modules x devices.
"""
import reframe as rfm
import reframe.utility.sanity as sn

MEANING = {
    1: "a regression",
    2: "the module or its device is not there",
    3: "the modules measure different things; the listed fields say which",
    4: "inconclusive; the report says how many launches would decide",
    5: "a kernel's result was wrong",
    6: "the workload failed",
    7: "a launch hung and was stopped",
}


@rfm.simple_test
class AssayDuel(rfm.RunOnlyRegressionTest):
    descr = "Two Assay modules, launches interleaved on one board"
    valid_systems = ["+gpu"]  # partitions that list the feature gpu
    valid_prog_environs = ["*"]
    modules_pair = parameter([("cuda-12.4", "cuda-13.0")])
    suite = variable(str, value="standard")
    launches = variable(int, value=7)
    num_gpus_per_node = 1
    exclusive_access = True  # a neighbour's job would disturb the times
    time_limit = "2h"
    executable = "assay"
    keep_files = ["duel-a.json", "duel-b.json", "duel-compare.json", "verdict.xml", "verdict.md"]

    @run_before("run")
    def set_command(self):
        old, new = self.modules_pair
        self.executable_opts = ["duel", "--a", old, "--b", new, "--suite", self.suite,
                                "--launches", str(self.launches), "--output", "duel"]
        # Not every scheduler hands the exit code on; the script itself writes it down, first of all.
        self.postrun_cmds = [
            'echo "assay exit code: $?"',
            "assay report --format junit duel-compare.json >verdict.xml",
            "assay report --format markdown duel-compare.json >verdict.md",
        ]

    # No performance reference stands here: the verdict is Assay's, against the old module of the same hour and board.
    @sanity_function
    def no_regression(self):
        code = sn.evaluate(sn.extractsingle(r"^assay exit code: (\d+)$", self.stdout, 1, int))
        meaning = MEANING.get(code, "see its last line of stderr")
        return sn.assert_eq(code, 0, msg=f"assay duel exited {code}: {meaning}")
