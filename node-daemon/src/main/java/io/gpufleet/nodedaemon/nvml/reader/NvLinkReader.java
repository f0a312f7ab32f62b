package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.nvml.binding.NvmlConstants;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLayout;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFieldValues;
import io.gpufleet.nodedaemon.nvml.call.NvmlFieldValues.NvmlFieldRequest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Reads the NVLinks of a GPU: states, peers and counters. */
record NvLinkReader(Nvml nvml) {
    private static final String TO_SWITCH = "";
    private static final long KIB = 1024;

    /** Peers of all links that are up. */
    List<Gpu.NvLinkPeer> peers(Nvml.Handle device) {
        Map<String, Integer> byPeer = new TreeMap<>();
        List<Boolean> states = states(device);
        for (int link = 0; link < states.size(); link++) {
            if (states.get(link)) {
                peer(device, link).asOptional().ifPresent(peer -> byPeer.merge(peer, 1, Integer::sum));
            }
        }
        List<Gpu.NvLinkPeer> links = new ArrayList<>();
        byPeer.forEach((peer, count) -> links.add(new Gpu.NvLinkPeer(peer, count, peer.equals(TO_SWITCH))));
        return links;
    }

    /** Whether each link is up, by its number; links are numbered without gaps. */
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

    /** Bytes over all links, both directions, since the driver was loaded. */
    Reading<Long> bytes(Nvml.Handle device) {
        NvmlFieldValues all = NvmlFieldValues.of(
                nvml,
                device,
                List.of(
                        new NvmlFieldRequest(NvmlConstants.FIELD_NVLINK_SENT_KIB, NvmlConstants.SCOPE_ALL_LINKS),
                        new NvmlFieldRequest(NvmlConstants.FIELD_NVLINK_RECEIVED_KIB, NvmlConstants.SCOPE_ALL_LINKS)));
        return all.sum() instanceof Known<Long>(Long kib)
                ? new Known<>(kib * KIB)
                : sumOverLinks(
                        device,
                        states(device).size(),
                        NvmlConstants.FIELD_NVLINK5_SENT_BYTES,
                        NvmlConstants.FIELD_NVLINK5_RECEIVED_BYTES);
    }

    /**
     * Errors of all links since the driver was loaded. Each generation has its own counters, and some report zero for those of
     * another, so the largest sum counts.
     */
    Reading<Long> errors(Nvml.Handle device, int links) {
        if (links == 0) {
            return new Unavailable<>("no NVLink");
        }
        List<Reading<Long>> families = List.of(
                NvmlFieldValues.of(
                                nvml,
                                device,
                                NvmlConstants.FIELD_NVLINK_CRC_FLIT_TOTAL,
                                NvmlConstants.FIELD_NVLINK_CRC_DATA_TOTAL,
                                NvmlConstants.FIELD_NVLINK_REPLAY_TOTAL,
                                NvmlConstants.FIELD_NVLINK_RECOVERY_TOTAL)
                        .sum(),
                sumOverLinks(
                        device,
                        links,
                        NvmlConstants.FIELD_NVLINK_DL_REPLAY,
                        NvmlConstants.FIELD_NVLINK_DL_RECOVERY,
                        NvmlConstants.FIELD_NVLINK_DL_CRC),
                sumOverLinks(
                        device,
                        links,
                        NvmlConstants.FIELD_NVLINK5_RECEIVE_ERRORS,
                        NvmlConstants.FIELD_NVLINK5_RECOVERIES));
        return families.stream()
                .filter(family -> family instanceof Known)
                .max(Comparator.comparing(family -> family.orElse(0L)))
                .orElse(families.getFirst());
    }

    private Reading<Long> sumOverLinks(Nvml.Handle device, int links, int... ids) {
        List<NvmlFieldRequest> requests = IntStream.range(0, links)
                .boxed()
                .flatMap(link -> IntStream.of(ids).mapToObj(id -> new NvmlFieldRequest(id, link)))
                .toList();
        return requests.isEmpty()
                ? new Unavailable<>("no NVLink")
                : NvmlFieldValues.of(nvml, device, requests).sum();
    }
}
