package io.gpufleet.runtime.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@NullMarked
class RequestCountsTest {
    @ParameterizedTest
    @CsvSource({
        "/api/v1/nodes?limit=1,nodes",
        "/api/v1/nodes/n1,nodes",
        "/api/v1/nodes/n1/status,nodes/status",
        "/api/v1/namespaces/default/events/e1?fieldManager=x,events",
        "/api/v1/namespaces/default,namespaces",
        "/api/v1/namespaces/ml/pods/p/eviction,pods/eviction",
        "/apis/gpufleet.io/v1alpha1/namespaces/ml/gpuremediations/r,gpuremediations",
        "/k8s/clusters/c1/api/v1/nodes/n1/status,nodes/status",
        "/version,other",
    })
    void requestIsCountedByItsResource(String path, String resource) {
        assertThat(RequestCounts.resource(URI.create("https://api:6443" + path)))
                .isEqualTo(resource);
    }
}
