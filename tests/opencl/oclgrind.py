# exec: --gpu vega10
"""Oclgrind's test programs, from Debian's source package.

`oclgrind.py -o PROGRAM` fetches and compiles them beside PROGRAM, and writes PROGRAM, which runs them. They look for the
platform that Oclgrind itself is: that name is the one word of them that is changed.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile

# What each must print: the lines of its reference that are not Oclgrind's own reports.
PROGRAMS = {
    "apps/vecadd/vecadd": [],
    "runtime/build_program": [r"out = 42", r"out = -7", r"MSG = hello", r"out = .*", r"MSG = foo and bar", r"out = .*"],
    "runtime/kernel_scope_local_mem_usage": [],
    "runtime/map_buffer": [],
    "runtime/multqueues": ["OK"] * 4,
    "runtime/sampler": ["0 errors detected"],
}

# What is not run, and why.
LEFT_OUT = {
    "apps/image/image": "its images have CL_RGB with CL_FLOAT, which the standard's table of formats does not have",
}


def fetch(home):
    """Unpacks the sources, by apt and from where it gets its packages."""
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(os.path.join(home, "lists", "partial"))
    used = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    repositories = subprocess.run(used, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    main = sorted({line.rsplit(" ", 1)[0] for line in repositories if line.endswith(" main")})
    with open(os.path.join(home, "sources.list"), "w") as file:
        file.writelines(f"deb-src {line} main\n" for line in main)
    settings = {
        "Dir::Etc::sourcelist": os.path.join(home, "sources.list"),
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": os.path.join(home, "lists"),
    }
    apt = ["apt-get", "--quiet"] + [word for k, v in settings.items() for word in ("-o", f"{k}={v}")]
    subprocess.run(apt + ["update"], stdout=subprocess.DEVNULL, check=True)
    source = apt + ["source", "--download-only", "--tar-only", "oclgrind"]
    subprocess.run(source, cwd=home, stdout=subprocess.DEVNULL, check=True)
    shutil.rmtree(os.path.join(home, "lists"))
    with tarfile.open(glob.glob(os.path.join(home, "*.orig.tar.*"))[0]) as archive:
        archive.extractall(home)
    return os.path.join(glob.glob(os.path.join(home, "*", "tests", "apps"))[0], "..")


def prepare(program):
    """Compiles the programs, unless they are there."""
    home = os.path.join(os.path.dirname(os.path.abspath(program)), "oclgrind-tests")
    done = os.path.join(home, "done")
    if not os.path.exists(done):
        tests = fetch(home)
        common = os.path.join(tests, "common", "common.c")
        with open(common) as file:
            text = file.read().replace('"Oclgrind"', '"Wavemill"')
        with open(common, "w") as file:
            file.write(text)
        for name in PROGRAMS:
            root = f'-DROOT_DIR="{os.path.join(tests, "runtime")}"'
            flags = ["-w", "-DCL_TARGET_OPENCL_VERSION=300", root, "-I", os.path.dirname(common)]
            files = [os.path.join(tests, f"{name}.c"), common, "-o", os.path.join(home, os.path.basename(name))]
            subprocess.run(["gcc-12"] + flags + files + ["-lOpenCL", "-lm"], check=True)
        open(done, "w").close()
    with open(program, "w") as file:
        file.write(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" --run "{home}"\n')
    os.chmod(program, 0o755)


def run(home):
    """Runs the programs and compares what they print."""
    failed = 0
    for name, lines in PROGRAMS.items():
        done = subprocess.run([os.path.join(home, os.path.basename(name))], stdout=subprocess.PIPE, text=True)
        printed = done.stdout.split("\n")[:-1]
        same = len(printed) == len(lines) and all(re.fullmatch(w, p) for w, p in zip(lines, printed))
        if done.returncode == 0 and same:
            print(f"case: {name}")
        else:
            failed += 1
            print(f"{name}: status {done.returncode}, {lines} expected, {printed} printed")
    for name, reason in LEFT_OUT.items():
        print(f"note: {name} is left out: {reason}")
    if not failed:
        print("PASS")
    return failed


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        sys.exit(run(sys.argv[2]))
    prepare(sys.argv[sys.argv.index("-o") + 1])
