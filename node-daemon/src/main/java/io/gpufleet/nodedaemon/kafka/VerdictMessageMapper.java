package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.NodeVerdict;
import java.util.HashMap;

/** Maps the wire's verdict to the model's overlay. */
final class VerdictMessageMapper {
    private VerdictMessageMapper() {}

    static Overlay overlay(NodeVerdict verdict) {
        var untrusted = new HashMap<String, String>();
        for (DeviceVerdict device : verdict.getDevicesList()) {
            if (!device.getTrusted()) {
                untrusted.put(device.getDeviceUuid(), device.getReason().isEmpty() ? "untrusted" : device.getReason());
            }
        }
        String withdrawn = verdict.getReason().isEmpty() ? "NodeWithdrawn" : verdict.getReason();
        return new Overlay(
                verdict.getRevision(),
                verdict.getBootId(),
                verdict.getSurvivesBoot(),
                verdict.getWithdrawsEveryDevice() ? withdrawn : "",
                untrusted);
    }
}
