package io.gpufleet.nodedaemon.kmsg;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.app.XidPolicy;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.xid.NvLinkError;
import io.gpufleet.xid.NvLinkErrorActions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses messages of the NVIDIA driver. They differ by driver: the address with or without {@code PCI:}, with a domain of four
 * or eight digits or none, with the MIG instance behind it; with or without process, name and channel before the text.
 */
final class DriverMessageParser {
    private static final int MAX_MESSAGE_LENGTH = 400;
    private static final String PCI_ADDRESS = "(?:PCI:)?([0-9A-Fa-f:.]{5,20})";
    private static final Pattern XID =
            Pattern.compile("NVRM: Xid \\(" + PCI_ADDRESS + "([^)]{0,64})\\): (\\d{1,6})\\b");
    private static final Pattern SXID =
            Pattern.compile("nvidia-nvswitch\\d{0,4}: SXid \\(" + PCI_ADDRESS + "\\): (\\d{1,6}), ?(.{0,64})");
    private static final Pattern OFF_THE_BUS =
            Pattern.compile("NVRM: (?:The NVIDIA )?GPU (?:at )?" + PCI_ADDRESS + ".{0,120}?has fallen off the bus");
    private static final Pattern RECOVERY_ACTION = Pattern.compile("to 0x[0-9A-Fa-f]{1,8} \\(([A-Za-z0-9 ]{1,40})\\)");
    /** Subcode, severity, whether it crossed containment, whether it was injected, link, and two numbers in hex. */
    private static final Pattern NVLINK = Pattern.compile(", ([A-Z][A-Za-z0-9_ ]{1,40}?) {1,8}(?:Non-?)?[Ff]atal {1,8}"
            + "XC ?\\d{1,2} {1,8}i ?\\d{1,2} {1,8}Link {1,8}-?\\d{1,3} {1,8}"
            + "[(\\[]0x([0-9A-Fa-f]{1,8}),? {1,8}0x([0-9A-Fa-f]{1,8})\\b");

    private static final FaultCode LOST = new FaultCode.WithoutCode(FaultKind.GPU_LOST);
    private static final int XID_RECOVERY_ACTION_CHANGED = 154;

    private DriverMessageParser() {}

    /** Faults in a line; none in most lines. Never fails, whatever the line contains. */
    static List<KernelLogFault> read(String text) {
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
                ? List.of(new KernelLogFault(pciAddress(fallen.group(1)), LOST, message(text), false))
                : List.of();
    }

    private static List<KernelLogFault> xid(String text, Matcher found) {
        var reports = new ArrayList<KernelLogFault>();
        String place = pciAddress(found.group(1));
        int code = Integer.parseInt(found.group(3));
        reports.add(nvLink(code, text)
                .map(detail -> new KernelLogFault(
                        place, new FaultCode.Xid(code), detail.subcode(), message(text) + detail.advice(), false))
                .orElseGet(() -> new KernelLogFault(place, new FaultCode.Xid(code), message(text), false)));
        if (code == XID_RECOVERY_ACTION_CHANGED) {
            recoveryAction(text)
                    .ifPresent(action -> reports.add(
                            new KernelLogFault(place, new FaultCode.RecoveryRequested(action), message(text), false)));
        }
        return reports;
    }

    /**
     * Details of an NVLink error.
     *
     * @param advice NVIDIA's actions, appended to the message; empty where its table does not have the error
     */
    private record NvLinkErrorDetail(XidSubcode subcode, String advice) {}

    private static Optional<NvLinkErrorDetail> nvLink(int code, String text) {
        Matcher fields = NVLINK.matcher(text);
        if (!fields.find()) {
            return Optional.empty();
        }
        Optional<NvLinkError> error = NvLinkErrorActions.standard()
                .find(
                        code,
                        fields.group(1),
                        Integer.parseUnsignedInt(fields.group(2), 16),
                        Integer.parseUnsignedInt(fields.group(3), 16));
        XidSubcode.RepairNeed need =
                error.map(NvLinkError::immediate).map(XidPolicy::need).orElse(XidSubcode.RepairNeed.UNSPECIFIED);
        return Optional.of(new NvLinkErrorDetail(
                new XidSubcode(fields.group(1), need),
                error.map(known -> "; NVIDIA: " + known.immediate() + ", then " + known.investigatory())
                        .orElse("")));
    }

    /** Recovery action in the text of XID 154; empty where it is none or missing. */
    private static Optional<RecoveryAction> recoveryAction(String text) {
        Matcher to = RECOVERY_ACTION.matcher(text);
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

    /** One SXID prints several lines; only the one with its severity as a word counts. */
    private static Optional<KernelLogFault> sxid(String text, Matcher found) {
        String rest = found.group(3);
        boolean continuation = rest.startsWith("Severity") || rest.startsWith("Data");
        return continuation
                ? Optional.empty()
                : Optional.of(new KernelLogFault(
                        pciAddress(found.group(1)),
                        new FaultCode.Sxid(Integer.parseInt(found.group(2))),
                        message(text),
                        rest.startsWith("Non-fatal")));
    }

    /** The address without the colon that some drivers print behind it. */
    private static String pciAddress(String printed) {
        return printed.endsWith(":") ? printed.substring(0, printed.length() - 1) : printed;
    }

    private static String message(String text) {
        String line = text.codePoints()
                .limit(MAX_MESSAGE_LENGTH)
                .map(point -> Character.isISOControl(point) ? ' ' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return line.strip();
    }
}
