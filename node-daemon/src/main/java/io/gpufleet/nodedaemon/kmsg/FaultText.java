package io.gpufleet.nodedaemon.kmsg;

import io.gpufleet.catalogue.NvLinkError;
import io.gpufleet.catalogue.NvLinkErrors;
import io.gpufleet.nodedaemon.app.XidPolicy;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.KernelReport;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Subcode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the driver's lines mean. They differ by driver: the address with or without {@code PCI:}, with a domain of four or
 * eight digits or none, with the MIG instance behind it; process, name and channel before the text or not.
 */
final class FaultText {
    private static final int MESSAGE = 400;
    private static final String PLACE = "(?:PCI:)?([0-9A-Fa-f:.]{5,20})";
    private static final Pattern XID = Pattern.compile("NVRM: Xid \\(" + PLACE + "([^)]{0,64})\\): (\\d{1,6})\\b");
    private static final Pattern SXID =
            Pattern.compile("nvidia-nvswitch\\d{0,4}: SXid \\(" + PLACE + "\\): (\\d{1,6}), ?(.{0,64})");
    private static final Pattern OFF_THE_BUS =
            Pattern.compile("NVRM: (?:The NVIDIA )?GPU (?:at )?" + PLACE + ".{0,120}?has fallen off the bus");
    private static final Pattern ASKED = Pattern.compile("to 0x[0-9A-Fa-f]{1,8} \\(([A-Za-z0-9 ]{1,40})\\)");
    /** Subcode, severity, whether it crossed containment, whether it was injected, link, and words in hex. */
    private static final Pattern NVLINK = Pattern.compile(", ([A-Z][A-Za-z0-9_ ]{1,40}?) {1,8}(?:Non-?)?[Ff]atal {1,8}"
            + "XC ?\\d{1,2} {1,8}i ?\\d{1,2} {1,8}Link {1,8}-?\\d{1,3} {1,8}"
            + "[(\\[]0x([0-9A-Fa-f]{1,8}),? {1,8}0x([0-9A-Fa-f]{1,8})\\b");

    private static final FaultCode LOST = new FaultCode.Plain(FaultCode.Kind.GPU_LOST);
    private static final int ACTION_CHANGED = 154;

    private FaultText() {}

    /** The faults that a line tells of; none for most lines. Never fails: anybody's hardware prints these. */
    static List<KernelReport> read(String text) {
        Matcher xid = XID.matcher(text);
        if (xid.find()) {
            return xid(text, xid);
        }
        Matcher sxid = SXID.matcher(text);
        if (sxid.find()) {
            return sxid(text, sxid).stream().toList();
        }
        Matcher fallen = OFF_THE_BUS.matcher(text);
        return fallen.find()
                ? List.of(new KernelReport(place(fallen.group(1)), LOST, message(text), false))
                : List.of();
    }

    private static List<KernelReport> xid(String text, Matcher found) {
        var reports = new ArrayList<KernelReport>();
        String place = place(found.group(1));
        int code = Integer.parseInt(found.group(3));
        reports.add(nvLink(code, text)
                .map(told -> new KernelReport(
                        place, new FaultCode.Xid(code), told.subcode(), message(text) + told.advice(), false))
                .orElseGet(() -> new KernelReport(place, new FaultCode.Xid(code), message(text), false)));
        if (code == ACTION_CHANGED) {
            asked(text)
                    .ifPresent(action -> reports.add(
                            new KernelReport(place, new FaultCode.RecoveryAsked(action), message(text), false)));
        }
        return reports;
    }

    /**
     * What a line says of an NVLink.
     *
     * @param advice NVIDIA's, to be read behind the line; empty where its table does not know the error
     */
    private record Told(Subcode subcode, String advice) {}

    private static Optional<Told> nvLink(int code, String text) {
        Matcher words = NVLINK.matcher(text);
        if (!words.find()) {
            return Optional.empty();
        }
        Optional<NvLinkError> error = NvLinkErrors.standard()
                .find(
                        code,
                        words.group(1),
                        Integer.parseUnsignedInt(words.group(2), 16),
                        Integer.parseUnsignedInt(words.group(3), 16));
        Subcode.Need need =
                error.map(NvLinkError::immediate).map(XidPolicy::need).orElse(Subcode.Need.UNSAID);
        return Optional.of(new Told(
                new Subcode(words.group(1), need),
                error.map(known -> "; NVIDIA: " + known.immediate() + ", then " + known.investigatory())
                        .orElse("")));
    }

    /** What XID 154 says the driver asks for now; empty for nothing, and where it does not say. */
    private static Optional<RecoveryAction> asked(String text) {
        Matcher to = ASKED.matcher(text);
        if (!to.find()) {
            return Optional.empty();
        }
        return switch (to.group(1)) {
            case "None" -> Optional.empty();
            case "GPU Reset Required" -> Optional.of(RecoveryAction.GPU_RESET);
            case "Node Reboot Required" -> Optional.of(RecoveryAction.NODE_REBOOT);
            case "Drain P2P" -> Optional.of(RecoveryAction.DRAIN_P2P);
            case "Drain and Reset" -> Optional.of(RecoveryAction.DRAIN_AND_RESET);
            default -> Optional.of(RecoveryAction.UNKNOWN);
        };
    }

    /** One error prints several lines of its code; the one that judges it stands for all. */
    private static Optional<KernelReport> sxid(String text, Matcher found) {
        String rest = found.group(3);
        boolean detail = rest.startsWith("Severity") || rest.startsWith("Data");
        return detail
                ? Optional.empty()
                : Optional.of(new KernelReport(
                        place(found.group(1)),
                        new FaultCode.Sxid(Integer.parseInt(found.group(2))),
                        message(text),
                        rest.startsWith("Non-fatal")));
    }

    /** The address ends where the driver's punctuation begins. */
    private static String place(String printed) {
        return printed.endsWith(":") ? printed.substring(0, printed.length() - 1) : printed;
    }

    private static String message(String text) {
        String line = text.codePoints()
                .limit(MESSAGE)
                .map(point -> Character.isISOControl(point) ? ' ' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return line.strip();
    }
}
