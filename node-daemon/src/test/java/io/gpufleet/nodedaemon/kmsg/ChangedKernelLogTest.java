package io.gpufleet.nodedaemon.kmsg;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.testbed.testkit.ParserFuzzer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Any program may write to the kernel's log: no line of it ends the reader. */
class ChangedKernelLogTest {
    private static final List<String> LINES = List.of(
            "4,1234,5678901,-;NVRM: Xid (PCI:0000:65:00): 79, pid=1234, name=python3, GPU has fallen off the bus.\n",
            "4,1235,5678902,-,caller=T12;NVRM: Xid (PCI:0000:65:00.0 GPU-I:03): 31, pid='<unknown>', Ch 00000008\n",
            "3,1236,5678903,-;nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted\n",
            "3,1237,5678904,-;NVRM: GPU at PCI:0000:17:00: GPU-0c7e8a3e-5c9b-4b0e-9d44-2b1c1e6a5f10\n SUBSYSTEM=pci\n",
            "4,1238,5678905,-;NVRM: Xid (PCI:0000:18:00): 145, RLW_REMAP Nonfatal XC1 i0 Link 5 (0x00000004 0x00000000)\n",
            "4,1239,5678906,-;NVRM: Xid (PCI:0000:18:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot)\n");

    @Test
    void changedLinesAreReadOrPassedOver() {
        ParserFuzzer.check(50_000, LINES, List.of(), text -> {
            for (String line : new LineSplitter().split(new String(text, UTF_8))) {
                KmsgRecord.parse(line).ifPresent(rec -> DriverMessageParser.read(rec.text()));
            }
        });
    }
}
