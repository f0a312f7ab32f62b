package io.gpufleet.proto.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.proto.kubelet.deviceplugin.PreStartContainerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RememberedRequestsTest {
    private final List<PreStartContainerRequest> read = new ArrayList<>();
    private final RememberedRequests<PreStartContainerRequest, List<String>> requests =
            new RememberedRequests<>(PreStartContainerRequest.parser(), request -> {
                read.add(request);
                return List.copyOf(request.getDevicesIdsList());
            });

    private static byte[] request(String... ids) {
        return PreStartContainerRequest.newBuilder()
                .addAllDevicesIds(List.of(ids))
                .build()
                .toByteArray();
    }

    @Test
    void equalRequestsAreReadOnce() throws Exception {
        assertThat(requests.read(request("a", "b"))).containsExactly("a", "b");
        assertThat(requests.read(request("a", "b"))).containsExactly("a", "b");
        assertThat(requests.read(request("b", "a"))).containsExactly("b", "a");

        assertThat(read).hasSize(2);
    }

    @Test
    void requestsWhoseBytesHaveTheSameHashAreToldApart() throws Exception {
        // "Aa" and "BB" have one hash, so the requests have, too
        assertThat(requests.read(request("Aa"))).containsExactly("Aa");
        assertThat(requests.read(request("BB"))).containsExactly("BB");
    }

    @Test
    void endlessDifferentRequestsAreReadEachAndFewAreKept() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            assertThat(requests.read(request("id-" + i))).containsExactly("id-" + i);
        }
        read.clear();

        for (int i = 0; i < 1_000; i++) {
            assertThat(requests.read(request("id-" + i))).containsExactly("id-" + i);
        }

        assertThat(read).hasSizeGreaterThan(900);
    }

    @Test
    void largeRequestIsNotKept() throws Exception {
        byte[] large =
                request(IntStream.range(0, 1_000).mapToObj(i -> "id-" + i).toArray(String[]::new));

        assertThat(requests.read(large)).hasSize(1_000);
        assertThat(requests.read(large)).hasSize(1_000);

        assertThat(read).hasSize(2);
    }

    @Test
    void unreadableRequestFailsEachTime() {
        byte[] broken = {10, 100, 1};

        assertThatThrownBy(() -> requests.read(broken)).isInstanceOf(InvalidProtocolBufferException.class);
        assertThatThrownBy(() -> requests.read(broken)).isInstanceOf(InvalidProtocolBufferException.class);
        assertThat(read).isEmpty();
    }
}
