package io.gpufleet.xid;

import static io.gpufleet.xid.XidImmediateAction.IGNORE;
import static io.gpufleet.xid.XidImmediateAction.RECOVERY_ACTION_CHANGED;
import static io.gpufleet.xid.XidImmediateAction.RESET_GPU;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.StringReader;
import java.util.Collections;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table agrees with NVIDIA's for the lines of all driver versions. */
class NvLinkErrorActionsTest {
    private static final NvLinkErrorActions TABLE = NvLinkErrorActions.standard();

    @ParameterizedTest
    @CsvSource({
        "144, SAW_MVB, 0x00000021, 0x00000002, RESET_GPU, CONTACT_SUPPORT",
        "144, SAW_MVB, 0x00000001, 0x00000004, IGNORE, IGNORE",
        "145, RLW_RXPIPE, 0x0409a0c2, 0x00000008, IGNORE, CONTACT_SUPPORT",
        "145, RLW_SRC_TRACK, 0x040988e2, 0x00000008, RECOVERY_ACTION_CHANGED, IGNORE",
        "145, RLW_REMAP, 0x00000004, 0x00000080, RESET_GPU, CONTACT_SUPPORT",
        "145, RLW_TAGSTATE, 0x00000008, 0x80000000, IGNORE, CONTACT_SUPPORT",
        "146, TLW_TX, 0x00000163, 0x00000004, RESET_GPU, CONTACT_SUPPORT",
        "146, TLW_RX_PIPE1, 0x0000000b, 0x00000004, RESET_GPU, CONTACT_SUPPORT",
        "148, NVLPW, 0x0000000f, 0x80000000, IGNORE, CONTACT_SUPPORT",
        "149, NETIR, 0x000fe406, 0x00000000, RESET_GPU, SYMPATHETIC_REPORT_SOLO",
        "149, NETIR_LINK_EVT, 0x004505c6, 0x00000000, RESET_GPU, INVESTIGATE_LINK_SI",
        "149, NETIR_LINK_EVT, 0x025001c6, 0x00000000, RESET_GPU, INVESTIGATE_PEER_DEVICE",
        "149, NETIR_LINK_DOWN, 0x02600011, 0x00000000, IGNORE, INVESTIGATE_SW/USER",
        "149, NETIR_BER_EVENT, 0x00086226, 0x00000001, IGNORE, INVESTIGATE_LINK_SI_AND_CABLES",
        "149, NETIR_MFDE_EVENT, 0x00000014, 0x00000003, IGNORE, IGNORE",
        "150, MSE Degraded, 0x00000000, 0xffffffff, RESET_GPU, CONTACT_SUPPORT",
    })
    void errorIsFoundByTheFieldsOfItsLogLine(
            int xid, String subcode, Long intrInfo, Long status, XidImmediateAction immediate, String investigatory) {
        var found = TABLE.find(xid, subcode, intrInfo.intValue(), status.intValue());

        assertThat(found).hasValueSatisfying(error -> {
            assertThat(error.immediate()).isEqualTo(immediate);
            assertThat(error.investigatory()).isEqualTo(investigatory);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "0x000000c2, IGNORE",
        "0x000004c2, RESET_GPU",
        "0x00000006, IGNORE",
        "0x00000086, RESET_GPU",
    })
    void oneBitDecidesWhetherAPipeThatLostAPacketNeedsAReset(int intrInfo, XidImmediateAction action) {
        assertThat(TABLE.find(145, "RLW_RXPIPE", intrInfo, 2))
                .map(NvLinkError::immediate)
                .contains(action);
    }

    @ParameterizedTest
    @CsvSource({
        "143, SAW_MVB, 0x21, 2",
        "144, SAW_EGR, 0x21, 2",
        "144, SAW_MVB, 0x22, 2",
        "144, SAW_MVB, 0x21, 3",
        "149, NETIR_LINK_EVT, 0x003001c6, 0",
    })
    void otherCodesSubcodesBitsAndStatesAreAbsent(int xid, String subcode, int intrInfo, int status) {
        assertThat(TABLE.find(xid, subcode, intrInfo, status)).isEmpty();
    }

    @Test
    void noLineMatchesTwoErrorsWithDifferentActions() {
        for (NvLinkError one : TABLE.all()) {
            for (NvLinkError other : TABLE.all()) {
                boolean alike = one.xid() == other.xid()
                        && one.errorStatus() == other.errorStatus()
                        && !Collections.disjoint(one.subcodes(), other.subcodes())
                        && one.intrInfo().stream()
                                .anyMatch(bits -> other.intrInfo().stream().anyMatch(bits::overlaps));
                assertThat(alike && one.immediate() != other.immediate())
                        .as("%s and %s", one, other)
                        .isFalse();
            }
        }
    }

    @Test
    void everyXidThatIsDecodedIsInTheTable() {
        Set<Integer> decoded = TABLE.all().stream().map(NvLinkError::xid).collect(Collectors.toSet());

        assertThat(decoded)
                .isEqualTo(XidCatalogue.standard().all().stream()
                        .filter(xid -> xid.immediate() == XidImmediateAction.WORKFLOW_NVLINK5_ERR)
                        .map(Xid::code)
                        .collect(Collectors.toSet()));
        assertThat(TABLE.all())
                .extracting(NvLinkError::immediate)
                .containsOnly(IGNORE, RESET_GPU, RECOVERY_ACTION_CHANGED);
    }

    @Test
    void malformedLineIsRefusedWithItsNumber() {
        String any = "-".repeat(32);
        assertThatThrownBy(() -> read("# head\n144\tA\n")).hasMessage("line 2: 2 columns, 7 expected");
        assertThatThrownBy(() -> read("144\tA\t012\t" + any + "\t0x1\tIGNORE\tx\n"))
                .hasMessage("line 1: 012 is not 32 times 0, 1 or -");
        assertThatThrownBy(() -> read("144\tA\t" + any + "\t" + any + "\t0x1\tDANCE\tx\n"))
                .hasMessageContaining("line 1")
                .hasMessageContaining("DANCE");
    }

    private static NvLinkErrorActions read(String text) throws IOException {
        return NvLinkErrorActions.read(new StringReader(text));
    }
}
