# SPDX-License-Identifier: Apache-2.0
# What is installed, and the package configuration that a consumer finds: find_package(assay) gives assay::json (read,
# validate and write documents), assay::types and assay::abi (write a backend module).
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/assay")

install(TARGETS assay RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
foreach(module assay-host assay_cuda assay_hip)
  if(TARGET ${module})
    install(FILES "$<TARGET_FILE:${module}>" DESTINATION "${CMAKE_INSTALL_LIBDIR}/assay")
  endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/suite/data/models" DESTINATION "${CMAKE_INSTALL_DATADIR}/assay")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")

foreach(library types abi json)
  set_target_properties(assay_${library} PROPERTIES EXPORT_NAME ${library})
endforeach()
install(TARGETS assay_types assay_abi assay_json EXPORT assayTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/assay")
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/assayConfig.cmake.in" "${PROJECT_BINARY_DIR}/assayConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/assayConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/assayConfig.cmake" "${PROJECT_BINARY_DIR}/assayConfigVersion.cmake"
  DESTINATION "${package_dir}")
