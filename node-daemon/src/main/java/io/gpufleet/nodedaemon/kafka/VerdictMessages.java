package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import java.util.HashMap;

/** From the wire's verdict to the model's overlay: the mapper of the inward direction. */
final class VerdictMessages {
    private VerdictMessages() {}

    static Overlay overlay(NodeVerdict verdict) {
        var distrusted = new HashMap<String, String>();
        for (DeviceVerdict device : verdict.getDevicesList()) {
            if (!device.getTrusted()) {
                distrusted.put(
                        device.getDeviceUuid(), device.getReason().isEmpty() ? "distrusted" : device.getReason());
            }
        }
        return new Overlay(verdict.getRevision(), verdict.getBootId(), verdict.getSurvivesBoot(), distrusted);
    }
}
