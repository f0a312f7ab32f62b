package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.wire.Codec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerdictMessageMapperTest {
    private static final NodeVerdict QUARANTINED = NodeVerdict.newBuilder()
            .setRevision(7)
            .setBootId("boot-1")
            .setSurvivesBoot(true)
            .setReason("Quarantined")
            .setTrusted(false)
            .setWithdrawsEveryDevice(true)
            .addDevices(DeviceVerdict.newBuilder()
                    .setDeviceUuid("GPU-a")
                    .setReason("Xid79")
                    .setTrusted(false))
            .build();

    @Test
    void verdictOnTheWholeNodeWithdrawsEachDeviceByItsOwnReasonOrTheNodes() {
        Overlay overlay = VerdictMessageMapper.overlay(QUARANTINED);

        assertThat(overlay.untrustedReason("GPU-a")).isEqualTo("Xid79");
        assertThat(overlay.untrustedReason("GPU-b")).isEqualTo("Quarantined");
    }

    @Test
    void taintedNodeKeepsItsHealthyDevices() {
        NodeVerdict tainted = QUARANTINED.toBuilder()
                .setReason("Xid79")
                .setWithdrawsEveryDevice(false)
                .build();

        assertThat(VerdictMessageMapper.overlay(tainted).untrustedReason("GPU-b"))
                .isEmpty();
    }

    @Test
    void olderRecordWithoutTheFieldWithdrawsSingleDevicesOnly() throws Exception {
        byte[] older = "{\"revision\":\"7\",\"bootId\":\"boot-1\",\"reason\":\"Quarantined\",\"trusted\":false}"
                .getBytes(StandardCharsets.UTF_8);

        NodeVerdict read = (NodeVerdict) Codec.fromJson(older, NodeVerdict.getDefaultInstance());

        assertThat(VerdictMessageMapper.overlay(read).untrustedReason("GPU-b")).isEmpty();
    }

    @Test
    void savedVerdictOnTheWholeNodeIsReadAtTheNextStart(@TempDir Path directory) {
        new VerdictFile(directory).save(QUARANTINED);

        Overlay overlay = VerdictMessageMapper.overlay(new VerdictFile(directory).load());

        assertThat(overlay.untrustedReason("GPU-b")).isEqualTo("Quarantined");
    }
}
