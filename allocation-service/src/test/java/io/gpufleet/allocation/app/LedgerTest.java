package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Committed ledgers, and the GPU models that follow from them. */
class LedgerTest {
    private final List<String> models = new ArrayList<>();
    private final Ledger ledger = new Ledger(changed -> changed.forEach((node, known) -> models.add(
            node + " " + known.models().stream().map(GpuModel::shortModel).toList())));

    private static NodeLedger announced(String shortModel) {
        var gpus = new AnnouncedGpus(
                List.of(new GpuModel("NVIDIA " + shortModel, shortModel, 8)), new TreeSet<>(), Map.of());
        return LedgerReducer.fold("c1", "n1", NodeLedger.EMPTY, new LedgerFact.GpusAnnounced(gpus))
                .next();
    }

    @Test
    void modelsAreReportedWhenTheyChange() {
        ledger.committed(Map.of("n1", NodeLedger.EMPTY), Set.of());
        ledger.committed(Map.of("n1", announced("A100")), Set.of());
        ledger.committed(Map.of("n1", announced("A100")), Set.of());
        ledger.committed(Map.of("n1", announced("H100")), Set.of());
        assertThat(models).containsExactly("n1 [A100]", "n1 [H100]");
    }

    @Test
    void forgottenNodeHasNoModels() {
        ledger.committed(Map.of("n1", announced("A100")), Set.of());
        // When
        ledger.committed(Map.of(), Set.of("n1", "unknown"));
        // Then
        assertThat(models).containsExactly("n1 [A100]", "n1 []");
        assertThat(ledger.all()).isEmpty();
    }

    @Test
    void nodeThatARestoreDoesNotFindHasNoModels() {
        ledger.committed(Map.of("n1", announced("A100"), "n2", NodeLedger.EMPTY), Set.of());
        // When
        ledger.cleared();
        // Then
        assertThat(models).containsExactly("n1 [A100]", "n1 []");
        assertThat(ledger.all()).isEmpty();
    }
}
