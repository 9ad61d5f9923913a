# Two Debian packages from one build: `cpack -G DEB` makes the window and the command line (no torch, no CUDA), and the engine,
# which finds the machine's own libtorch when it starts. tools/package_test.sh installs both in a clean root.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # what is packed is built by name, not with every test

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernelscope)
set(CPACK_PACKAGE_CONTACT "The Kernelscope developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL gui engine)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_GUI_DESCRIPTION "Where an LLM's inference time goes, and what a faster kernel buys: the window and the command line.
 Saved runs open without an engine; the engine may run on another machine.")
set(CPACK_COMPONENT_ENGINE_DESCRIPTION "Kernelscope's engine: runs models and kernels, on CUDA where there is a GPU.
 Needs libtorch 2.11 or newer, which it finds by KERNELSCOPE_TORCH_DIR or in python3.")
set(CPACK_DEBIAN_GUI_PACKAGE_NAME kernelscope)
set(CPACK_DEBIAN_GUI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_GUI_PACKAGE_SUGGESTS kernelscope-engine)
set(CPACK_DEBIAN_ENGINE_PACKAGE_NAME kernelscope-engine)
# libtorch and CUDA are in no Debian package, so what dpkg-shlibdeps would find is written down: the C++ runtime and Highway.
set(CPACK_DEBIAN_ENGINE_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_ENGINE_PACKAGE_DEPENDS "libc6 (>= 2.36), libgcc-s1, libstdc++6 (>= 12), libhwy1")
set(CPACK_DEBIAN_ENGINE_PACKAGE_RECOMMENDS "python3, libcurl4, ca-certificates")
include(CPack)
