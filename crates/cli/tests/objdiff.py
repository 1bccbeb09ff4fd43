#!/usr/bin/env python3
"""Compares Wavemill's view of code objects with LLVM 19's, and what it makes with what LLVM makes.

    objdiff.py WAVEMILL FILE...
    objdiff.py --variables FILE     only prints what llvm-dwarfdump says about variables

FILE.o and FILE.so are code objects: `inspect --json` must agree with llvm-readelf on header, symbols, sections, kernels
and arguments, relocations, with llvm-objdump on descriptors (GFX8 and later), with llvm-dwarfdump on variables. Beside X.o may stand X.so, which ld.lld made of it:
`link` must give the same symbols, segments and words, and ld.lld must link our object. Beside X.o may stand X.s, from
which clang assembled it: `asm -c` must give the same code, descriptors and metadata. `disasm --asm` of each must assemble
to the same object. FILE+FILE is linked by both linkers. Needs llvm-19, lld-19 and PyYAML.
"""
import collections, itertools, json, os, re, struct, subprocess, sys, tempfile
import yaml

READELF, OBJDUMP, DWARFDUMP, LLD = "llvm-readelf-19", "llvm-objdump-19", "llvm-dwarfdump-19", "ld.lld-19"
wavemill = sys.argv[1] if len(sys.argv) > 1 else "wavemill"
problems = []
counts = {}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit {result.returncode}: {result.stderr.strip()[:400]}")
    return result.stdout


def count(what):
    counts[what] = counts.get(what, 0) + 1


def check(file, what, ours, theirs):
    count(what.split(" ")[0])
    if ours != theirs:
        problems.append(f"{file}: {what}: {ours!r}, LLVM has {theirs!r}")


def snake(word):
    word = word.replace("MultiGrid", "Multigrid")
    return re.sub(r"(?<!^)([A-Z])", r"_\1", word).lower()


class Loader(yaml.SafeLoader):
    """YAML 1.2's idea of truth, so that an argument called y or n keeps its name."""


Loader.yaml_implicit_resolvers = {
    k: [(t, r) for t, r in v if t != "tag:yaml.org,2002:bool"] for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))

SCALARS = {
    ".kernarg_segment_size": "kernarg_segment_size", ".kernarg_segment_align": "kernarg_segment_align",
    ".group_segment_fixed_size": "group_segment_fixed_size", ".private_segment_fixed_size": "private_segment_fixed_size",
    ".wavefront_size": "wavefront_size", ".sgpr_count": "sgpr_count", ".vgpr_count": "vgpr_count",
    ".agpr_count": "agpr_count", ".sgpr_spill_count": "sgpr_spill_count", ".vgpr_spill_count": "vgpr_spill_count",
    ".max_flat_workgroup_size": "max_flat_workgroup_size", ".language": "language",
    ".language_version": "language_version", ".reqd_workgroup_size": "reqd_workgroup_size",
    ".workgroup_size_hint": "workgroup_size_hint", ".vec_type_hint": "vec_type_hint", ".symbol": "symbol",
    ".name": "source_name", ".kind": "kind", ".uses_dynamic_stack": "uses_dynamic_stack",
}
ARGUMENT = ["name", "type_name", "offset", "size", "value_kind", "address_space", "access", "actual_access",
            "pointee_align", "is_const", "is_restrict", "is_volatile", "is_pipe"]
V2 = {"KernargSegmentSize": "kernarg_segment_size", "KernargSegmentAlign": "kernarg_segment_align",
      "GroupSegmentFixedSize": "group_segment_fixed_size", "PrivateSegmentFixedSize": "private_segment_fixed_size",
      "WavefrontSize": "wavefront_size", "NumSGPRs": "sgpr_count", "NumVGPRs": "vgpr_count",
      "MaxFlatWorkGroupSize": "max_flat_workgroup_size", "NumSpilledSGPRs": "sgpr_spill_count",
      "NumSpilledVGPRs": "vgpr_spill_count"}


def kernels(file, ours, notes):
    documents = re.findall(r"^(---\n.*?^\.\.\.)", re.sub(r"^ {4,}(?=---|\.\.\.)", "", notes, flags=re.M), re.M | re.S)
    said = []
    for text in documents:
        document = yaml.load(text, Loader)
        if "amdhsa.kernels" in document:
            said += [(k, 3) for k in document["amdhsa.kernels"]]
        else:
            said += [(k, 2) for k in document.get("Kernels", [])]
    by_name = {k["source_name"]: k for k in ours["kernels"]}
    check(file, "kernels", sorted(by_name), sorted(k[".name" if v == 3 else "Name"] for k, v in said))
    for theirs, version in said:
        name = theirs[".name" if version == 3 else "Name"]
        mine = by_name.get(name)
        if mine is None:
            continue
        if version == 2:
            for key, field in V2.items():
                if key in theirs.get("CodeProps", {}):
                    check(file, f"property {name} {field}", mine[field], theirs["CodeProps"][key])
            arguments = theirs.get("Args", [])
            check(file, f"arguments {name}", len(mine["arguments"]), len(arguments))
            for m, t in zip(mine["arguments"], arguments):
                check(file, f"argument {name} size", m["size"], t["Size"])
                check(file, f"argument {name} align", m["offset"] % t["Align"], 0)
                check(file, f"argument {name} kind", m["value_kind"], snake(t["ValueKind"]))
                space = t.get("AddrSpaceQual")
                check(file, f"argument {name} space", m["address_space"], space and snake(space))
                check(file, f"argument {name} type", m["type_name"], t.get("TypeName"))
            continue
        for key, field in SCALARS.items():
            if key in theirs:
                check(file, f"property {name} {field}", mine[field], theirs[key])
        arguments = theirs.get(".args", [])
        check(file, f"arguments {name}", len(mine["arguments"]), len(arguments))
        for m, t in zip(mine["arguments"], arguments):
            for field in ARGUMENT:
                value = m.get(field)
                # YAML reads 'x' and 1 alike; names are text.
                other = t.get("." + field)
                other = str(other) if field in ("name", "type_name") and other is not None else other
                check(file, f"argument {name} {field}", value, other)


def symbols(file, ours):
    theirs = []
    for line in run(READELF, "-sW", file).split("Symbol table '.symtab'")[-1].splitlines():
        m = re.match(r"\s*\d+: ([0-9a-f]{16})\s+(\S+) (\S+)\s+(\S+)\s+(\S+)(?: \[.*?\])?\s+(\S+)(?: (.*))?$", line)
        if m and m[3] != "SECTION" and m[7]:
            size = int(m[2], 0) if m[2].startswith("0x") else int(m[2])
            theirs.append((m[7].strip(), int(m[1], 16), size, m[4].lower(), m[5].lower()))
    mine = [(s["name"], s["value"], s["size"], s["binding"], s["visibility"])
            for s in ours["symbols"] if s["name"] and s["type"] != "section"]
    check(file, "symbols", sorted(mine), sorted(theirs))


def sections(file, ours):
    theirs = []
    for line in run(READELF, "-SW", file).splitlines():
        m = re.match(r"\s*\[\s*\d+\] (\S+)\s+\S+\s+([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+)", line)
        if m:
            theirs.append((m[1], int(m[2], 16), int(m[3], 16), int(m[4], 16)))
    mine = [(s["name"], s["address"], s["offset"], s["size"]) for s in ours["sections"]]
    check(file, "sections", mine, theirs)


def relocations(file, ours):
    theirs = []
    for line in run(READELF, "-rW", file).splitlines():
        m = re.match(r"([0-9a-f]{16})  [0-9a-f]{16} (\w+)\s+(?:[0-9a-f]{16} (\S*) ([+-]) )?(-?[0-9a-f]+)$", line)
        if m:
            addend = int(m[5], 16) * (-1 if m[4] == "-" else 1)
            theirs.append((int(m[1], 16), m[2], m[3] or None, addend))
    mine = [(r["offset"], r["type"], r["symbol"], r["addend"]) for r in ours["relocations"]]
    check(file, "relocations", sorted(mine, key=repr), sorted(theirs, key=repr))


def descriptors(file, ours):
    data = open(file, "rb").read()
    generation = int(re.match(r"gfx(\d)", ours["processor"])[1])
    listing = None
    for k in ours["kernels"]:
        if "descriptor" not in k:
            continue
        raw = data[k["descriptor_offset"]:][:64]
        check(file, f"descriptor {k['name']} bytes", k["descriptor_bytes"], raw.hex())
        lds, scratch, kernarg, _, entry = struct.unpack_from("<IIIIq", raw)
        rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", raw, 44)
        d = k["descriptor"]
        bits = lambda word, low, width: word >> low & (1 << width) - 1
        for field, value in {
            "group_segment_fixed_size": lds, "private_segment_fixed_size": scratch, "kernarg_size": kernarg,
            "kernel_code_entry_byte_offset": entry & (1 << 64) - 1,
            "granulated_workitem_vgpr_count": bits(rsrc1, 0, 6), "granulated_wavefront_sgpr_count": bits(rsrc1, 6, 4),
            "float_round_mode_32": bits(rsrc1, 12, 2), "float_denorm_mode_16_64": bits(rsrc1, 18, 2),
            "enable_dx10_clamp": bits(rsrc1, 21, 1), "enable_ieee_mode": bits(rsrc1, 23, 1),
            "enable_private_segment": bits(rsrc2, 0, 1), "user_sgpr_count": bits(rsrc2, 1, 5),
            "enable_sgpr_workgroup_id_x": bits(rsrc2, 7, 1), "enable_sgpr_workgroup_id_y": bits(rsrc2, 8, 1),
            "enable_sgpr_workgroup_id_z": bits(rsrc2, 9, 1), "enable_vgpr_workitem_id": bits(rsrc2, 11, 2),
            "enable_sgpr_private_segment_buffer": bits(properties, 0, 1),
            "enable_sgpr_kernarg_segment_ptr": bits(properties, 3, 1), "uses_dynamic_stack": bits(properties, 11, 1),
        }.items():
            check(file, f"descriptor {k['name']} {field}", d[field], value)
        if "accum_offset" in d:
            check(file, f"descriptor {k['name']} accum_offset", d["accum_offset"], bits(rsrc3, 0, 6))
        # llvm-objdump does not look whether an object demands XNACK and prints that its mask is not reserved.
        if generation >= 8 and ours["xnack"] != "on":
            if listing is None:
                listing = run(wavemill, "disasm", file)
            theirs = run(OBJDUMP, f"--disassemble-symbols={k['name']}.kd", "-D", file)
            block = lambda text: re.search(rf"^\.amdhsa_kernel {re.escape(k['name'])}\n.*?^\.end_amdhsa_kernel$", text, re.M | re.S)
            mine, theirs = block(listing), block(theirs)
            # GCC's symbols have no size, and llvm-objdump then shows nothing for some.
            if theirs:
                check(file, f"directives {k['name']}", mine and mine[0], theirs[0])


class Die:
    """An entry of llvm-dwarfdump's listing."""
    def __init__(self, offset, tag, parent):
        self.offset, self.tag, self.parent, self.attributes = offset, tag, parent, {}

    def get(self, name, dies):
        """What it says, or else the entry that it is an instance of."""
        if name in self.attributes:
            return self.attributes[name]
        for origin in ("abstract_origin", "specification"):
            if origin in self.attributes:
                return dies[int(self.attributes[origin].split()[0], 16)].get(name, dies)


def dwarf(file):
    dies, stack, last = {}, [], None
    for line in run(DWARFDUMP, "--debug-info", file).splitlines():
        m = re.match(r"0x([0-9a-f]{8}):( +)(?:DW_TAG_(\w+)|NULL)", line)
        if m:
            depth = len(m[2])
            stack = [(d, e) for d, e in stack if d < depth]
            last = m[3] and Die(int(m[1], 16), m[3], stack[-1][1] if stack else None)
            if last:
                dies[last.offset] = last
                stack.append((depth, last))
            key = None
        elif last and (m := re.match(r" +DW_AT_(\w+)\t\((.*)$", line)):
            key = m[1]
            last.attributes[key] = m[2]
        elif last and key and line.strip():
            last.attributes[key] += "\n" + line.strip()
    for die in dies.values():
        die.attributes = {k: v.removesuffix(")") for k, v in die.attributes.items()}
    return dies


SPACES = {None: None, 1: "private", 2: "local", 3: "local", 5: "private", 6: "private"}


def variables(file):
    """llvm-dwarfdump's view: function, name, type, line, what it points to, where it was inlined from, locations."""
    dies = dwarf(file)
    text = lambda value: value and value.strip('"')
    quoted = lambda value: value and value.split('"', 1)[1].rsplit('"', 1)[0]

    def pointee(die):
        while die is not None:
            if die.tag in ("pointer_type", "reference_type", "rvalue_reference_type"):
                value = die.attributes.get("address_class")
                return SPACES[value and int(value, 16)]
            if die.tag not in ("typedef", "const_type", "volatile_type", "restrict_type"):
                return None
            ty = die.attributes.get("type")
            die = ty and dies[int(ty.split()[0], 16)]

    def locations(value):
        if value is None:
            return []
        # LLVM's register names are those of the lower halves, which share the numbers.
        value = value.replace("_LO16", "")
        # llvm-dwarfdump does not relocate addresses in expressions.
        value = re.sub(r"DW_OP_addr 0x[0-9a-f]+", "DW_OP_addr", value) if file.endswith(".o") else value
        ranges = re.findall(r"\[0x([0-9a-f]+), 0x([0-9a-f]+)\): (.*)", value)
        return [(int(a, 16), int(b, 16), e) for a, b, e in ranges if a != b] if "loclist" in value or ranges else [(None, None, value)]

    theirs = []
    for die in dies.values():
        if die.tag not in ("variable", "formal_parameter"):
            continue
        around, inlined = die.parent, None
        while around.tag in ("lexical_block", "inlined_subroutine"):
            if around.tag == "inlined_subroutine" and inlined is None:
                inlined = text(around.get("name", dies))
            around = around.parent
        if around.tag == "subprogram" and not {"low_pc", "ranges"} & set(around.attributes) or \
                around.tag not in ("subprogram", "compile_unit"):
            continue
        if around.tag == "compile_unit" and "location" not in die.attributes:
            continue
        function = text(around.get("name", dies)) if around.tag == "subprogram" else None
        ty, line = die.get("type", dies), die.get("decl_line", dies)
        home = ty and dies[int(ty.split()[0], 16)]
        theirs.append((function, text(die.get("name", dies)) or "", quoted(ty), int(line) if line else None, pointee(home),
                       inlined, locations(die.attributes.get("location"))))
    return theirs


def debug(file):
    theirs = variables(file)
    mine = []
    for unit in json.loads(run(wavemill, "inspect", "--json", "--debug", file))["debug"]:
        for f in [{"name": None, "variables": unit["variables"]}] + unit["functions"]:
            for v in f["variables"]:
                shown = lambda e: re.sub(r"DW_OP_addr 0x[0-9a-f]+", "DW_OP_addr", e) if file.endswith(".o") else e
                places = [(p["from"], p["to"], shown(p["expression"])) for p in v["locations"]]
                spaces = {p["space"] for p in v["locations"]}
                xderef = {SPACES[int(n)] for _, _, e in places for n in re.findall(r"DW_OP_lit(\d), DW_OP_swap, DW_OP_xderef", e)}
                check(file, f"space {v['name']}", spaces - {None}, xderef)
                mine.append((f["name"], v["name"], v["type"], v["line"], v["pointee_space"], v["inlined_from"], places))
    check(file, "debug variables", len(mine), len(theirs))
    # What llvm-dwarfdump does not know (GNU's operations), it cannot contradict.
    known = [v[:6] for v in theirs if "decoding error" in repr(v)]
    # It calls every restricted pointer "restrict ".
    mine = [(*v[:2], "restrict ", *v[3:]) if v[2].endswith("restrict") else v for v in mine]
    mine, theirs = collections.Counter(map(repr, mine)), collections.Counter(map(repr, theirs))
    for t in theirs:
        if "decoding error" not in t:
            check(file, "variable", t in mine and mine[t] >= theirs[t] and t, t)
    for m in mine - theirs:
        if not any(m.startswith(repr(k)[:-1]) for k in known):
            check(file, "variable", m, None)


def listing(file, ours):
    """Code and relocations, as far as llvm-objdump knows the processor."""
    if int(re.match(r"gfx(\d)", ours["processor"])[1]) < 8 or ours["version"] < 3 or not file.endswith(".o"):
        return
    mine, theirs = run(wavemill, "disasm", "-d", "-r", file), run(OBJDUMP, "-d", "-r", file)
    after = lambda text: text[text.find("Disassembly"):].splitlines()
    for m, t in itertools.zip_longest(after(mine), after(theirs)):
        if m != t:
            return check(file, "listing", m, t)
    check(file, "listing", True, True)


SKIPPED = {".comment", ".symtab", ".strtab", ".shstrtab", ".llvm_addrsig", ".note.GNU-stack"}


def same(file, what, ours, theirs, names=None, addresses=True):
    """Compares two objects in everything that a loader sees."""
    def parts(path):
        data, info = open(path, "rb").read(), json.loads(run(wavemill, "inspect", "--json", path))
        kept = {}
        for s in info["sections"]:
            debug = s["name"].startswith((".debug", ".rela.debug")) and what not in ("link", "together")
            if s["name"] not in SKIPPED and not debug and (names is None or s["name"] in names):
                contents = b"" if s["type"] == 8 else data[s["offset"]:][:s["size"]]
                # Numbers of symbols differ where section symbols do.
                contents = b"" if s["name"].startswith(".rela.") and s["flags"] & 2 == 0 else contents
                # A linked section may be mergeable in parts, which no source can say.
                flags = s["flags"] & ~0x30 if info["kind"] != "relocatable" and what == "again" else s["flags"]
                kept[s["name"]] = (s["type"], flags, s["address"], s["size"], s["align"], contents)
        keys = ("name", "value", "size", "type", "binding", "visibility", "section")
        table = sorted(tuple(s[k] for k in keys) for s in info["symbols"] if s["type"] not in ("section", "file"))
        return kept, table, (info["version"], info["e_flags"], info["target"])
    a, b = parts(ours), parts(theirs)
    for name in sorted(set(a[0]) | set(b[0])):
        x, y = a[0].get(name), b[0].get(name)
        if x and y and x != y:
            at = next((i for i, (p, q) in enumerate(zip(x[5], y[5])) if p != q), None)
            check(file, f"{what} {name}", (x[:5], at), (y[:5], at if x[:5] != y[:5] else "the same up to there"))
        else:
            check(file, f"{what} {name}", bool(x), bool(y))
    check(file, f"{what} header", a[2], b[2])
    if names is None:
        check(file, f"{what} symbols", a[1], b[1])


def together(files, scratch):
    ours, theirs = os.path.join(scratch, "linked.so"), os.path.join(scratch, "lld.so")
    run(wavemill, "link", *files, "-o", ours)
    run(LLD, "-shared", *files, "-o", theirs)
    same("+".join(files), "together", ours, theirs)


def one(file, scratch):
    if "+" in file:
        return together(file.split("+"), scratch)
    ours = json.loads(run(wavemill, "inspect", "--json", file))
    notes = run(READELF, "--notes", file)
    kernels(file, ours, notes)
    symbols(file, ours)
    sections(file, ours)
    descriptors(file, ours)
    relocations(file, ours)
    listing(file, ours)
    if any(s["name"] == ".debug_info" for s in ours["sections"]):
        debug(file)
    base = os.path.splitext(file)[0]
    path = lambda name: os.path.join(scratch, name)
    if file.endswith(".o"):
        if os.path.exists(base + ".so"):
            run(wavemill, "link", file, "-o", path("linked.so"))
            run(LLD, "-shared", file, "-o", path("lld.so"))
            same(file, "link", path("linked.so"), path("lld.so"))
        if os.path.exists(base + ".s"):
            version = ["--code-object-version", str(ours["version"])]
            run(wavemill, "asm", "-c", base + ".s", "-o", path("ours.o"), *version)
            names = {".text", ".rodata", ".note", ".data", ".bss"}
            # For GFX6 clang and llvm-mc count SGPRs differently, and so fill descriptors in .rodata; ours are llvm-mc's.
            if ours["processor"].startswith("gfx6"):
                names -= {".rodata"}
            same(file, "asm", path("ours.o"), file, names)
            run(LLD, "-shared", path("ours.o"), "-o", path("lld.so"))
            run(wavemill, "link", path("ours.o"), "-o", path("linked.so"))
            same(file, "ours", path("linked.so"), path("lld.so"))
    text = run(wavemill, "disasm", "--asm", file)
    open(path("again.s"), "w").write(text)
    if ours["kind"] == "relocatable":
        run(wavemill, "asm", "-c", path("again.s"), "-o", path("again.o"))
        same(file, "again", path("again.o"), file)
    elif os.path.exists(base + ".o"):
        # What ld.lld of another version lays out otherwise is no business of ours.
        run(wavemill, "link", base + ".o", "-o", path("first.so"))
        text = run(wavemill, "disasm", "--asm", path("first.so"))
        open(path("again.s"), "w").write(text)
        run(wavemill, "asm", path("again.s"), "-o", path("again.so"), "--unresolved-symbols=ignore-all")
        same(file, "again", path("again.so"), path("first.so"))


def main():
    files = sys.argv[2:]
    if wavemill == "--variables" and files:
        for v in variables(files[0]):
            print(*(json.dumps(part) for part in v), sep="\t")
        return
    if not files:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            try:
                one(file, scratch)
            except RuntimeError as e:
                problems.append(f"{file}: {e}")
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {sum(counts.values())} comparisons, {len(problems)} differences:",
          ", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    sys.exit(bool(problems))


main()
