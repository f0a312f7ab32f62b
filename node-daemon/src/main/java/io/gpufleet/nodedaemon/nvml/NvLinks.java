package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads the NVLinks of a GPU: which are up, and where they end. */
record NvLinks(Nvml nvml) {
    private static final String TO_SWITCH = "";

    /** The ends of all links that are up, by peer. */
    List<Gpu.Link> ends(Nvml.Handle device) {
        Map<String, Integer> byPeer = new TreeMap<>();
        List<Boolean> states = states(device);
        for (int link = 0; link < states.size(); link++) {
            if (states.get(link)) {
                peer(device, link).asOptional().ifPresent(peer -> byPeer.merge(peer, 1, Integer::sum));
            }
        }
        List<Gpu.Link> links = new ArrayList<>();
        byPeer.forEach((peer, count) -> links.add(new Gpu.Link(peer, count, peer.equals(TO_SWITCH))));
        return links;
    }

    /** Whether each link of the board is up, by its number; links are numbered without gaps. */
    List<Boolean> states(Nvml.Handle device) {
        List<Boolean> states = new ArrayList<>();
        for (int i = 0; i < NvmlConstants.NVLINK_MAX_LINKS; i++) {
            int link = i;
            Reading<Integer> active =
                    Nvml.number(out -> nvml.library().nvmlDeviceGetNvLinkState(device.address(), link, out));
            if (active instanceof Unavailable) {
                break;
            }
            states.add(active.orElse(0) == 1);
        }
        return states;
    }

    private Reading<String> peer(Nvml.Handle device, int link) {
        Reading<Integer> type =
                Nvml.number(out -> nvml.library().nvmlDeviceGetNvLinkRemoteDeviceType(device.address(), link, out));
        if (type.orElse(0) == NvmlConstants.NVLINK_REMOTE_SWITCH) {
            return new Known<>(TO_SWITCH);
        }
        ByteBuffer info = Nvml.struct(NvmlLayout.PCI_SIZE);
        return Nvml.reading(
                Nvml.code(
                        () -> nvml.library().nvmlDeviceGetNvLinkRemotePciInfo_v2(device.address(), link, info),
                        () -> nvml.library().nvmlDeviceGetNvLinkRemotePciInfo(device.address(), link, info)),
                () -> Nvml.busId(info));
    }
}
