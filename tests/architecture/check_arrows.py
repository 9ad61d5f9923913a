#!/usr/bin/env python3
"""Holds the dependency arrow: who may include what, where POSIX headers may stand, what the three binaries load; and that tests share no folder.

    check_arrows.py includes ROOT          greps the tree
    check_arrows.py binaries BIN_FOLDER    reads the dynamic section of the programs in it
"""
import pathlib
import re
import subprocess
import sys

QT = r"(Q[A-Z]\w*|qcustomplot\.h|Qt\w+/.*)"
TORCH = r"(torch|ATen|c10)/.*"
CUDA = r"(cuda|cuda_runtime|cuda_fp16|cuda_bf16|cublas\w*|nvml|cupti|nvrtc)(_api)?\.h"
POSIX = r"(unistd|fcntl|poll|dlfcn|spawn|pwd|signal|termios|sys/\w+|netinet/\w+|arpa/\w+)\.h"

# folder -> what no file below it may include
FORBIDDEN = {
    "core": {"Qt": QT, "the ui": r"ui/.*"},
    "kernels": {"Qt": QT, "torch": TORCH, "the core": r"(core|ui)/.*"},
    "ui": {"torch": TORCH, "CUDA": CUDA, "the engine": r"core/(engine|device|model|ops|own|measure)/.*"},
    "core/records": {"torch": TORCH, "CUDA": CUDA, "other parts": r"core/(client|engine|device|model|ops|own|measure)/.*"},
    "core/hub": {"torch": TORCH, "CUDA": CUDA, "other parts": r"core/(client|engine|device|ops|own|measure)/.*"},
    "core/client": {"torch": TORCH, "CUDA": CUDA, "the engine side": r"core/(engine|device|model|ops|own|measure)/.*"},
    "app/cli": {"torch": TORCH, "CUDA": CUDA, "Qt": QT, "the engine side": r"core/(engine|device|model|ops|own|measure)/.*"},
    "app/gui": {"torch": TORCH, "CUDA": CUDA, "the engine side": r"core/(engine|device|model|ops|own|measure)/.*"},
    "app/engine": {"Qt": QT},
}
NOT_LINKED = {
    "kernelscope": r"lib(torch|c10|cuda|cublas|cudnn|nv)",
    "kernelscope-cli": r"lib(torch|c10|cuda|cublas|cudnn|nv|Qt)",
    "kernelscope-engine": r"libQt|libcuda\.so",
}


def sources(root):
    for folder in ("app", "core", "kernels", "ui"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".cpp", ".cu", ".cuh"}:
                yield path


def included(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1)


def check_includes(root):
    problems = []
    seen = 0
    for path in sources(root):
        seen += 1
        name = path.relative_to(root).as_posix()
        for number, header in included(path):
            for folder, rules in FORBIDDEN.items():
                if not name.startswith(folder + "/"):
                    continue
                for what, pattern in rules.items():
                    if re.fullmatch(pattern, header):
                        problems.append(f"{name}:{number} includes {header}: {folder} may not include {what}")
            if re.fullmatch(POSIX, header) and not path.stem.endswith("_posix"):
                problems.append(f"{name}:{number} includes {header}: POSIX headers belong in files named *_posix.cpp")
    for path in sorted((root / "tests").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in {".h", ".cpp"} or name in {"tests/support/temporary_folder.h", "tests/records/user_folders_test_posix.cpp"}:
            continue
        if "temp_directory_path" in path.read_text(encoding="utf-8"):
            problems.append(f"{name} names a folder for temporary files itself: TemporaryFolder of tests/support gives one that no test beside it has")
    if seen < 50:
        problems.append(f"only {seen} source files found below {root}: wrong folder?")
    return problems


def check_binaries(folder):
    problems = []
    for program, pattern in NOT_LINKED.items():
        path = folder / program
        if not path.exists():
            problems.append(f"{path} is missing")
            continue
        dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        if not needed:
            problems.append(f"{program} lists no libraries: is it a dynamic program?")
        problems += [f"{program} loads {library}" for library in needed if re.match(pattern, library)]
    return problems


if __name__ == "__main__":
    mode, target = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    found = check_includes(target) if mode == "includes" else check_binaries(target)
    print("\n".join(found) or "the arrow holds")
    sys.exit(1 if found else 0)
