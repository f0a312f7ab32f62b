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
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Reads the NVLinks of a GPU: states, peers and counters. */
record NvLinkReader(Nvml nvml) {
    private static final String TO_SWITCH = "";
    private static final String NO_LINK = "no NVLink";
    private static final long KIB = 1024;
    private static final List<Integer> ALL_LINKS =
            IntStream.range(0, NvmlConstants.NVLINK_MAX_LINKS).boxed().toList();
    private static final List<NvmlFieldRequest> THROUGHPUT = ofAllLinks(
            NvmlConstants.SCOPE_ALL_LINKS,
            NvmlConstants.FIELD_NVLINK_SENT_KIB,
            NvmlConstants.FIELD_NVLINK_RECEIVED_KIB);
    private static final List<NvmlFieldRequest> SUMMED_ERRORS =
            ofAllLinks(0, NvmlConstants.FIELD_NVLINK_REPLAY_TOTAL, NvmlConstants.FIELD_NVLINK_RECOVERY_TOTAL);
    private static final List<NvmlFieldRequest> SUMMED_CRC_ERRORS =
            ofAllLinks(0, NvmlConstants.FIELD_NVLINK_CRC_FLIT_TOTAL, NvmlConstants.FIELD_NVLINK_CRC_DATA_TOTAL);

    /**
     * The links of one poll.
     *
     * @param up whether each link that answers is up, by its number
     * @param bytes over all links, both directions, since the driver was loaded
     * @param errors replays and recoveries of all links since then
     * @param crcErrors packets with errors of all links since then
     */
    record NvLinkReadings(
            Map<Integer, Boolean> up, Reading<Long> bytes, Reading<Long> errors, Reading<Long> crcErrors) {}

    /** Peers of all links that are up. */
    List<Gpu.NvLinkPeer> peers(Nvml.Handle device) {
        Map<String, Integer> byPeer = new TreeMap<>();
        states(device, NvmlFieldValues.of(nvml, device, ofEachLink(ALL_LINKS, NvmlConstants.FIELD_NVLINK_STATE)))
                .forEach((link, up) -> {
                    if (up) {
                        peer(device, link).asOptional().ifPresent(peer -> byPeer.merge(peer, 1, Integer::sum));
                    }
                });
        List<Gpu.NvLinkPeer> links = new ArrayList<>();
        byPeer.forEach((peer, count) -> links.add(new Gpu.NvLinkPeer(peer, count, peer.equals(TO_SWITCH))));
        return links;
    }

    /** Reads all links: their states and sums by one call where the driver can, the counters of each link by another one. */
    NvLinkReadings read(Nvml.Handle device) {
        List<NvmlFieldRequest> first = new ArrayList<>(ofEachLink(ALL_LINKS, NvmlConstants.FIELD_NVLINK_STATE));
        first.addAll(THROUGHPUT);
        first.addAll(SUMMED_ERRORS);
        first.addAll(SUMMED_CRC_ERRORS);
        NvmlFieldValues values = NvmlFieldValues.of(nvml, device, first);
        Map<Integer, Boolean> up = states(device, values);
        if (up.isEmpty()) {
            return new NvLinkReadings(
                    up, new Unavailable<>(NO_LINK), new Unavailable<>(NO_LINK), new Unavailable<>(NO_LINK));
        }
        List<NvmlFieldRequest> bytes = ofEachLink(
                up.keySet(), NvmlConstants.FIELD_NVLINK5_SENT_BYTES, NvmlConstants.FIELD_NVLINK5_RECEIVED_BYTES);
        List<NvmlFieldRequest> errors =
                ofEachLink(up.keySet(), NvmlConstants.FIELD_NVLINK_DL_REPLAY, NvmlConstants.FIELD_NVLINK_DL_RECOVERY);
        List<NvmlFieldRequest> recoveries = ofEachLink(up.keySet(), NvmlConstants.FIELD_NVLINK5_RECOVERIES);
        List<NvmlFieldRequest> crc = ofEachLink(up.keySet(), NvmlConstants.FIELD_NVLINK_DL_CRC);
        List<NvmlFieldRequest> received = ofEachLink(up.keySet(), NvmlConstants.FIELD_NVLINK5_RECEIVE_ERRORS);
        NvmlFieldValues byLink = NvmlFieldValues.of(
                nvml,
                device,
                Stream.of(bytes, errors, recoveries, crc, received)
                        .flatMap(List::stream)
                        .toList());
        return new NvLinkReadings(
                up,
                values.sum(THROUGHPUT) instanceof Known<Long>(Long kib) ? new Known<>(kib * KIB) : byLink.sum(bytes),
                most(values.sum(SUMMED_ERRORS), byLink.sum(errors), byLink.sum(recoveries)),
                most(values.sum(SUMMED_CRC_ERRORS), byLink.sum(crc), byLink.sum(received)));
    }

    /**
     * Whether each link is up, by its number. A link that does not answer is left out, and the links after it are not: on one
     * board, links that are not wired, or a link that failed, may have any number.
     */
    private Map<Integer, Boolean> states(Nvml.Handle device, NvmlFieldValues values) {
        Map<Integer, Boolean> up = new TreeMap<>();
        for (int link : ALL_LINKS) {
            values.of(NvmlConstants.FIELD_NVLINK_STATE, link).asOptional().ifPresent(state -> up.put(link, state == 1));
        }
        return up.isEmpty() ? statesByCall(device) : up;
    }

    /** Of drivers without the field. */
    private Map<Integer, Boolean> statesByCall(Nvml.Handle device) {
        Map<Integer, Boolean> up = new TreeMap<>();
        for (int link : ALL_LINKS) {
            Nvml.number(out -> nvml.library().nvmlDeviceGetNvLinkState(device.address(), link, out))
                    .asOptional()
                    .ifPresent(state -> up.put(link, state == 1));
        }
        return up;
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

    /** Each generation has its own counters, and some report zero for those of another, so the largest sum counts. */
    @SafeVarargs
    private static Reading<Long> most(Reading<Long>... families) {
        return Stream.of(families)
                .filter(family -> family instanceof Known)
                .max(Comparator.comparing(family -> family.orElse(0L)))
                .orElse(families[0]);
    }

    private static List<NvmlFieldRequest> ofEachLink(Collection<Integer> links, int... ids) {
        return links.stream()
                .flatMap(link -> IntStream.of(ids).mapToObj(id -> new NvmlFieldRequest(id, link)))
                .toList();
    }

    private static List<NvmlFieldRequest> ofAllLinks(int scope, int... ids) {
        return IntStream.of(ids).mapToObj(id -> new NvmlFieldRequest(id, scope)).toList();
    }
}
