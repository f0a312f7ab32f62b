package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Who holds a part, by its UUID. */
final class Holders {
    private static final String SHARE_MARK = "::";

    private final Map<String, List<Held>> byPart = new HashMap<>();

    /**
     * One holder of a part.
     *
     * @param replica number of the share; empty where the part is held whole
     */
    record Held(Holder holder, String replica) {
        String labels(String before) {
            return Labels.after(before)
                    .with("container", holder.container())
                    .with("namespace", holder.namespace())
                    .with("pod", holder.pod())
                    .with("pod_uid", holder.podUid())
                    .with("vgpu", replica)
                    .text();
        }
    }

    Holders(Holdings holdings) {
        for (Holder holder : holdings.holders()) {
            for (String id : holder.deviceIds()) {
                int mark = id.indexOf(SHARE_MARK);
                String uuid = mark < 0 ? id : id.substring(0, mark);
                String replica = mark < 0 ? "" : id.substring(mark + SHARE_MARK.length());
                byPart.computeIfAbsent(uuid, _ -> new ArrayList<>()).add(new Held(holder, replica));
            }
        }
    }

    List<Held> of(String partUuid) {
        return byPart.getOrDefault(partUuid, List.of());
    }
}
