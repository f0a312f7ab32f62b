package io.gpufleet.xid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.StringReader;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The catalogue agrees with NVIDIA's published tables. */
class XidCatalogueTest {
    private final XidCatalogue catalogue = XidCatalogue.standard();

    @ParameterizedTest
    @CsvSource({
        "13, RESTART_APP, WORKFLOW_XID_13",
        "45, WORKFLOW_XID_45, Solo: RESTART_FM / Not Solo: IGNORE (follow other Xid)",
        "48, WORKFLOW_XID_48, WORKFLOW_XID_48",
        "63, IGNORE, IGNORE",
        "64, RESET_GPU, CONTACT_SUPPORT",
        "74, WORKFLOW_NVLINK_ERR, CONTACT_SUPPORT",
        "79, RESTART_BM, CONTACT_SUPPORT",
        "94, RESTART_APP, IGNORE (sympathetic)",
        "95, RESET_GPU, IGNORE (sympathetic)",
        "109, RESET_GPU, CONTACT_SUPPORT",
        "119, RESET_GPU, INVESTIGATE_SW",
        "151, RESTART_VM, CONTACT_SUPPORT",
        "154, RECOVERY_ACTION_CHANGED, N/A Informational only regarding another Xid",
        "167, UNSTATED, UNSTATED"
    })
    void entryCarriesNvidiasActions(int code, XidImmediateAction immediate, String investigatory) {
        // When
        Xid xid = catalogue.find(code).orElseThrow();

        // Then
        assertThat(xid.immediate()).isEqualTo(immediate);
        assertThat(xid.investigatory()).isEqualTo(investigatory);
        assertThat(xid.description()).isNotBlank();
        assertThat(xid.mnemonic()).matches("[A-Z0-9_]+");
    }

    @Test
    void unpublishedCodeIsAbsent() {
        assertThat(catalogue.find(0)).isEmpty();
        assertThat(catalogue.find(999)).isEmpty();
        assertThat(catalogue.find(-1)).isEmpty();
    }

    @Test
    void everyActionOfTheEnumOccurs() {
        assertThat(catalogue.all().stream().map(Xid::immediate).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(XidImmediateAction.values());
        assertThat(catalogue.all()).hasSize(111);
    }

    @Test
    void malformedLineIsRefusedWithItsNumber() {
        assertThatThrownBy(() -> read("# head\n7\tRESTART_APP\tx\n")).hasMessage("line 2: 3 columns, 5 expected");
        assertThatThrownBy(() -> read("7\tM\tDANCE\tx\ty\n"))
                .hasMessageContaining("line 1")
                .hasMessageContaining("DANCE");
        assertThatThrownBy(() -> read("7\tM\tIGNORE\tx\ty\n7\tM\tIGNORE\tx\ty\n"))
                .hasMessage("line 2: duplicate XID 7");
    }

    private static XidCatalogue read(String text) throws IOException {
        return XidCatalogue.read(new StringReader(text));
    }
}
