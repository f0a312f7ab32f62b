package io.gpufleet.cli.manifests;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.gpufleet.testbed.testkit.Repository;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The memory that the manifests ask for is what docs/sizing.md measured with the limit that they have. */
class SizingTest {
    private static final BigDecimal MEBIBYTE = BigDecimal.valueOf(1 << 20);

    @ParameterizedTest
    @CsvSource({"health-service, 2", "inventory-service, 3", "allocation-service, 4"})
    void requestOfAServiceIsWhatItUsesWithTheLimitThatIsShipped(String service, int column) {
        ResourceRequirements resources = resources(service);
        assertThat(resources.getLimits()).isEqualTo(Map.of("memory", new Quantity("1Gi")));
        BigDecimal requested = Quantity.getAmountInBytes(resources.getRequests().get("memory"));

        List<List<String>> rows = rowsOfTheLimit("1 GiB");
        assertThat(rows).extracting(row -> row.get(0)).containsExactly("100", "1,000", "10,000");
        assertThat(rows)
                .allSatisfy(row -> assertThat(requested)
                        .isGreaterThanOrEqualTo(
                                new BigDecimal(row.get(column).replace(" MiB", "")).multiply(MEBIBYTE)));
    }

    /** Cells of the rows of the table: nodes, limit, a cell for each service, restore. */
    private static List<List<String>> rowsOfTheLimit(String limit) {
        return ManifestFiles.text(Repository.module("k8s/docs/sizing.md"))
                .lines()
                .filter(line -> line.startsWith("| "))
                .map(line -> Arrays.stream(line.substring(2).split(" \\| ?")).toList())
                .filter(cells -> cells.size() > 1 && cells.get(1).equals(limit))
                .toList();
    }

    private static ResourceRequirements resources(String service) {
        return ManifestFiles.objects().stream()
                .filter(StatefulSet.class::isInstance)
                .map(StatefulSet.class::cast)
                .filter(set -> set.getMetadata().getName().equals(service))
                .flatMap(set -> set.getSpec().getTemplate().getSpec().getContainers().stream())
                .filter(container -> container.getName().equals(service))
                .findFirst()
                .orElseThrow()
                .getResources();
    }
}
