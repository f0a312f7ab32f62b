package io.gpufleet.nodedaemon.kmsg;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.PciAddress;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverMessageParserTest {
    private static final PciAddress PCI_ADDRESS =
            PciAddress.parse("00000000:3B:00.0").orElseThrow();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "79 | NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
                "31 | NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=python3, Ch 00000008, intr 00000000. MMU Fault",
                "14 | NVRM: Xid (PCI:0000:3b:00): 14, Channel 00000001",
                "6 | NVRM: Xid (0000:3b:00): 6, PE0000",
                "13 | NVRM: Xid (PCI:3b:00): 13, 0001 00000000",
                "48 | NVRM: Xid (PCI:00000000:3b:00.0): 48, pid=7, An uncorrectable double bit error (DBE)",
                "94 | NVRM: Xid (PCI:0000:3B:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No",
                "13 | NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 13, pid=9, Graphics SM Warp Exception",
                "119 | [ 12.3] NVRM: Xid (PCI:0000:3b:00): 119, Timeout after 6s of waiting for RPC response from GPU0 GSP!",
                "63 | NVRM: Xid (PCI:0000:3b:00): 63, Row Remapper: New row (0x0) marked for remapping, reset gpu to activate",
            })
    void xidIsReadHoweverTheDriverPrintsIt(int code, String line) {
        assertThat(DriverMessageParser.read(line)).singleElement().satisfies(report -> {
            assertThat(report.fault()).isEqualTo(new FaultCode.Xid(code));
            assertThat(PciAddress.parse(report.pciBusId())).contains(PCI_ADDRESS);
            assertThat(report.message()).isEqualTo(line.strip());
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GPU_RESET | 0x1 (GPU Reset Required)",
                "NODE_REBOOT | 0x2 (Node Reboot Required)",
                "DRAIN_P2P | 0x3 (Drain P2P)",
                "DRAIN_AND_RESET | 0x4 (Drain and Reset)",
                "UNKNOWN | 0x7 (Something Newer)",
            })
    void xid154AlsoCarriesTheRecoveryAction(RecoveryAction action, String to) {
        var reports = DriverMessageParser.read(
                "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to " + to);

        assertThat(reports)
                .extracting(KernelLogFault::fault)
                .containsExactly(new FaultCode.Xid(154), new FaultCode.RecoveryRequested(action));
    }

    @Test
    void xid154ThatEndsInNothingAsksForNothing() {
        assertThat(DriverMessageParser.read("NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from"
                        + " 0x1 (GPU Reset Required) to 0x0 (None)"))
                .extracting(KernelLogFault::fault)
                .containsExactly(new FaultCode.Xid(154));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "149 | NETIR_LINK_EVT | REPAIR | NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000000)",
                "149 | NETIR_LINK_EVT | REPAIR | NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 0x0)",
                "149 | NETIR_LINK_DOWN | REPAIR | NETIR_LINK_DOWN Fatal XC 0 i 0 Link 17 [0x00000011 0x00000000]",
                "149 | NETIR | REPAIR | NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000 0x00000000 0x00000000)",
                "149 | NETIR_BER_EVENT | NOTHING | NETIR_BER_EVENT Nonfatal XC0 i0 Link 03 (0x00086226 0x00000001 0x0)",
                "145 | RLW_RXPIPE | NOTHING | pid=87, name=ray::Work, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x8 0x1)",
                "145 | RLW_SRC_TRACK | UNSPECIFIED | RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 0x00000008 0x00000000)",
                "150 | MSE Degraded | REPAIR | MSE Degraded Fatal XC0 i0 Link -1 (0x00000000 0x00000000 0x00000000)",
                "144 | SAW_EGR | UNSPECIFIED | SAW_EGR Nonfatal XC0 i0 Link 00 (0x00000004 0x00000001 0x00000000 0x00000000)",
                "149 | NETIR_LINK_EVT | UNSPECIFIED | NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x003005c6 0x00000000 0x00000000)",
            })
    void xidOfAnNvLinkNamesTheFailedPartAndTheActionItNeeds(
            int code, String part, XidSubcode.RepairNeed need, String text) {
        assertThat(DriverMessageParser.read("NVRM: Xid (PCI:0000:3b:00): " + code + ", " + text))
                .singleElement()
                .satisfies(report -> {
                    assertThat(report.fault()).isEqualTo(new FaultCode.Xid(code));
                    assertThat(report.subcode()).isEqualTo(new XidSubcode(part, need));
                });
    }

    @Test
    void adviceOfNvidiaIsAppendedToTheLine() {
        String line = "NVRM: Xid (PCI:0000:3b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000)";

        assertThat(DriverMessageParser.read(line))
                .extracting(KernelLogFault::message)
                .containsExactly(line + "; NVIDIA: RESET_GPU, then INVESTIGATE_LINK_SI");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NVRM: Xid (PCI:0000:3b:00): 145, RLW_RXPIPE interrupt hit",
                "NVRM: Xid (PCI:0000:3b:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406",
                "NVRM: Xid (PCI:0000:3b:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe4060 0x00000000)",
                "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=NETIR, Ch 00000008, intr 00000000. MMU Fault",
            })
    void lineWithoutDetailIsItsCodeOnly(String line) {
        assertThat(DriverMessageParser.read(line))
                .singleElement()
                .matches(report -> report.subcode().equals(XidSubcode.NONE)
                        && report.message().equals(line));
    }

    @Test
    void sxidIsOneReportAndKnowsWhetherItPasses() {
        assertThat(DriverMessageParser.read(
                        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore"))
                .singleElement()
                .matches(report -> report.fault().equals(new FaultCode.Sxid(28006)) && report.transientFault());
        assertThat(DriverMessageParser.read(
                        "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"))
                .singleElement()
                .matches(report -> report.fault().equals(new FaultCode.Sxid(20034)) && !report.transientFault());
        assertThat(DriverMessageParser.read(
                        "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Severity 1 Engine instance 30"))
                .isEmpty();
        assertThat(DriverMessageParser.read(
                        "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Data {0x50610002, 0x10100030}"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
                "NVRM: GPU at 0000:3b:00.0 has fallen off the bus.",
                "NVRM: The NVIDIA GPU 0000:3b:00.0 (PCI ID: 10de:20b2) NVRM: installed in this system has fallen off the bus",
            })
    void gpuThatFellOffTheBusWithoutANumberIsLost(String line) {
        assertThat(DriverMessageParser.read(line)).singleElement().satisfies(report -> {
            assertThat(report.fault()).isEqualTo(new FaultCode.WithoutCode(FaultKind.GPU_LOST));
            assertThat(PciAddress.parse(report.pciBusId())).contains(PCI_ADDRESS);
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NVRM: GPU at PCI:0000:3b:00: GPU-2f6b1a5c",
                "NVRM: loading NVIDIA UNIX x86_64 Kernel Module 570.124.06",
                "NVRM: Xid (PCI:0000:3b:00): none",
                "NVRM: Xid (PCI:0000:3b:00): 99999999999, too long",
                "pcieport 0000:3a:00.0: AER: Corrected error received",
                "",
            })
    void otherLinesAreNoFault(String line) {
        assertThat(DriverMessageParser.read(line)).isEmpty();
    }

    @Provide
    Arbitrary<String> nearlyFaults() {
        Arbitrary<String> pieces = Arbitraries.of(
                "NVRM: Xid (",
                "nvidia-nvswitch0: SXid (",
                "PCI:",
                "0000:3b:00",
                ")",
                ": ",
                "79",
                ", ",
                "154",
                "Fatal",
                "GPU-I:",
                "(((",
                "to 0x1 (",
                "GPU Reset Required)",
                "\\x0a",
                "has fallen off the bus",
                "NVRM: GPU ",
                "149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 ",
                "(0x004505c6 ",
                "0x00000000",
                "\u0000",
                "\ud800",
                "9999999999",
                ":",
                ".");
        return Arbitraries.oneOf(pieces, Arbitraries.strings().ofMaxLength(40))
                .list()
                .ofMaxSize(40)
                .map(parts -> String.join("", parts));
    }

    @Property(tries = 3000)
    void noTextMakesTheReaderFailAndNoMessageIsLong(@ForAll("nearlyFaults") String text) {
        List<KernelLogFault> reports = DriverMessageParser.read(text);

        assertThat(reports).hasSizeLessThanOrEqualTo(2).allSatisfy(report -> {
            assertThat(report.message()).hasSizeLessThanOrEqualTo(800);
            assertThat(report.message().chars()).noneMatch(Character::isISOControl);
            assertThat(report.pciBusId()).hasSizeLessThanOrEqualTo(20);
        });
        assertThat(KmsgRecord.parse(text)).isEmpty();
    }
}
