package io.gpufleet.nodedaemon.model.fault;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;

/** Names of fault codes for operators and files. */
public final class FaultNames {
    private FaultNames() {}

    /** Returns the short, stable name: {@code xid-79}, {@code sxid-12028}, {@code recovery-gpu-reset}, {@code gpu-lost}. */
    public static String of(FaultCode fault) {
        return switch (fault) {
            case FaultCode.Xid(int code) -> "xid-" + code;
            case FaultCode.Sxid(int code) -> "sxid-" + code;
            case FaultCode.RecoveryRequested(RecoveryAction action) -> "recovery-" + kebab(action);
            case FaultCode.WithoutCode(FaultKind kind) -> kebab(kind);
        };
    }

    /** Returns the code with the name; throws {@link IllegalArgumentException} for others. */
    public static FaultCode parse(String name) {
        if (name.startsWith("xid-")) {
            return new FaultCode.Xid(Integer.parseInt(name.substring("xid-".length())));
        }
        if (name.startsWith("sxid-")) {
            return new FaultCode.Sxid(Integer.parseInt(name.substring("sxid-".length())));
        }
        if (name.startsWith("recovery-")) {
            return new FaultCode.RecoveryRequested(
                    RecoveryAction.valueOf(constant(name.substring("recovery-".length()))));
        }
        return new FaultCode.WithoutCode(FaultKind.valueOf(constant(name)));
    }

    private static String kebab(Enum<?> result) {
        return result.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    private static String constant(String kebab) {
        return kebab.toUpperCase(java.util.Locale.ROOT).replace('-', '_');
    }
}
