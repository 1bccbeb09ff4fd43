// Prints what LLVM knows about instructions: `make` compiles it against LLVM 19 and writes facts.tsv with it.
//
// Input, a line each: processor, a tab, a line of assembly. Output, a line each: LLVM's opcode, a tab, the facts; nothing
// where LLVM's assembler refuses the line or makes several instructions of it. (Its disassembler does not know GFX6 and
// GFX7, its assembler does.)
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

using namespace llvm;

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

// Keeps what the parser hands over.
struct Catcher : MCStreamer {
  std::vector<MCInst> Insts;
  explicit Catcher(MCContext &C) : MCStreamer(C) {}
  bool hasRawTextSupport() const override { return true; }
  void emitRawTextImpl(StringRef) override {}
  bool emitSymbolAttribute(MCSymbol *, MCSymbolAttr) override { return true; }
  void emitCommonSymbol(MCSymbol *, uint64_t, Align) override {}
  void emitZerofill(MCSection *, MCSymbol *, uint64_t, Align, SMLoc) override {}
  void emitInstruction(const MCInst &Inst, const MCSubtargetInfo &) override { Insts.push_back(Inst); }
};

struct Machine {
  const Target *T;
  Triple Name{"amdgcn-amd-amdhsa"};
  MCTargetOptions Options;
  std::unique_ptr<MCRegisterInfo> Regs;
  std::unique_ptr<MCAsmInfo> Asm;
  std::unique_ptr<MCInstrInfo> Insts;
  std::unique_ptr<MCSubtargetInfo> Sub;
  explicit Machine(const std::string &Cpu) {
    std::string Error;
    T = TargetRegistry::lookupTarget(Name.str(), Error);
    Regs.reset(T->createMCRegInfo(Name.str()));
    Asm.reset(T->createMCAsmInfo(*Regs, Name.str(), Options));
    Insts.reset(T->createMCInstrInfo());
    Sub.reset(T->createMCSubtargetInfo(Name.str(), Cpu, ""));
  }

  std::vector<MCInst> parse(const std::string &Line) const {
    SourceMgr Sources;
    Sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(Line + "\n"), SMLoc());
    Sources.setDiagHandler([](const SMDiagnostic &, void *) {});
    MCContext Context(Name, Asm.get(), Regs.get(), Sub.get(), &Sources);
    std::unique_ptr<MCObjectFileInfo> Files(T->createMCObjectFileInfo(Context, false));
    Context.setObjectFileInfo(Files.get());
    Catcher Out(Context);
    T->createNullTargetStreamer(Out);
    std::unique_ptr<MCAsmParser> Parser(createMCAsmParser(Sources, Context, Out, *Asm));
    std::unique_ptr<MCTargetAsmParser> Reader(T->createMCAsmParser(*Sub, *Parser, *Insts, Options));
    Parser->setTargetParser(*Reader);
    if (Parser->Run(false))
      return {};
    return Out.Insts;
  }
};

// SGPR4_SGPR5 as s[4:5]; single registers and the named ones in lower case without a generation's suffix.
static std::string name(const Machine &M, unsigned Reg) {
  std::string Text = M.Regs->getName(Reg), Out;
  static const std::pair<const char *, const char *> Files[] = {
      {"VGPR", "v"}, {"AGPR", "a"}, {"SGPR", "s"}, {"TTMP", "ttmp"}};
  for (auto [File, Letter] : Files) {
    if (Text.rfind(File, 0) != 0 || Text.find("NULL") != std::string::npos || !isdigit(Text[strlen(File)]))
      continue;
    std::stringstream Parts(Text);
    std::string Part;
    int First = -1, Last = -1;
    while (std::getline(Parts, Part, '_'))
      if (Part.rfind(File, 0) == 0) {
        Last = std::stoi(Part.substr(strlen(File)));
        First = First < 0 ? Last : First;
      }
    Out = Letter;
    return First == Last ? Out + std::to_string(First)
                         : Out + "[" + std::to_string(First) + ":" + std::to_string(Last) + "]";
  }
  for (char C : Text)
    Out += tolower(C);
  for (const char *Suffix : {"_vi", "_ci", "_gfxpre11", "_gfx9plus"})
    if (size_t At = Out.find(Suffix); At != std::string::npos)
      Out.erase(At, strlen(Suffix));
  return Out;
}

int main() {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  std::map<std::string, std::unique_ptr<Machine>> Machines;
  std::string Line;
  while (std::getline(std::cin, Line)) {
    std::string Cpu = Line.substr(0, Line.find('\t')), Text = Line.substr(Line.find('\t') + 1);
    auto &Slot = Machines[Cpu];
    if (!Slot)
      Slot = std::make_unique<Machine>(Cpu);
    Machine &M = *Slot;
    std::vector<MCInst> Parsed = M.parse(Text);
    if (Parsed.size() != 1) {
      std::cout << "\n";
      continue;
    }
    const MCInst &Inst = Parsed[0];
    const MCInstrDesc &D = M.Insts->get(Inst.getOpcode());
    std::set<std::string> Reads, Writes;
    for (unsigned I = 0; I < Inst.getNumOperands(); ++I) {
      const MCOperand &O = Inst.getOperand(I);
      if (!O.isReg() || O.getReg() == 0)
        continue;
      (I < D.getNumDefs() ? Writes : Reads).insert(name(M, O.getReg()));
    }
    for (unsigned Reg : D.implicit_uses())
      Reads.insert(name(M, Reg));
    for (unsigned Reg : D.implicit_defs())
      Writes.insert(name(M, Reg));
    std::string Out;
    auto Add = [&](const char *Key, const std::set<std::string> &Names) {
      if (Names.empty())
        return;
      Out += std::string(Out.empty() ? "" : " ") + Key + "=";
      for (auto It = Names.begin(); It != Names.end(); ++It)
        Out += (It == Names.begin() ? "" : ",") + *It;
    };
    Add("rd", Reads);
    Add("wr", Writes);
    std::set<std::string> Memory, Counters, Flow;
    if (D.mayLoad())
      Memory.insert("load");
    if (D.mayStore())
      Memory.insert("store");
    // The bits of TSFlags that say which counters an instruction raises (VM_CNT, EXP_CNT, LGKM_CNT).
    static const std::pair<int, const char *> Bits[] = {{32, "vm"}, {33, "exp"}, {34, "lgkm"}};
    for (auto [Bit, Counter] : Bits)
      if (D.TSFlags >> Bit & 1)
        Counters.insert(Counter);
    if (D.isConditionalBranch())
      Flow.insert("conditional");
    if (D.isUnconditionalBranch())
      Flow.insert("branch");
    if (D.isIndirectBranch())
      Flow.insert("indirect");
    if (D.isCall())
      Flow.insert("call");
    if (D.isReturn())
      Flow.insert("return");
    if (D.isTerminator())
      Flow.insert("ends");
    Add("mem", Memory);
    Add("cnt", Counters);
    Add("flow", Flow);
    std::cout << M.Insts->getName(Inst.getOpcode()).str() << "\t" << Out << "\n";
  }
}
