package io.gpufleet.nodedaemon.model;

/** The names of faults, as people and files read them. */
public final class Names {
    private Names() {}

    /** Short and stable: {@code xid-79}, {@code sxid-12028}, {@code recovery-gpu-reset}, {@code gpu-lost}. */
    public static String of(FaultCode fault) {
        return switch (fault) {
            case FaultCode.Xid(int code) -> "xid-" + code;
            case FaultCode.Sxid(int code) -> "sxid-" + code;
            case FaultCode.RecoveryAsked(RecoveryAction action) -> "recovery-" + kebab(action);
            case FaultCode.Plain(FaultCode.Kind kind) -> kebab(kind);
        };
    }

    /** The fault with the name; refuses others with {@link IllegalArgumentException}. */
    public static FaultCode fault(String name) {
        if (name.startsWith("xid-")) {
            return new FaultCode.Xid(Integer.parseInt(name.substring("xid-".length())));
        }
        if (name.startsWith("sxid-")) {
            return new FaultCode.Sxid(Integer.parseInt(name.substring("sxid-".length())));
        }
        if (name.startsWith("recovery-")) {
            return new FaultCode.RecoveryAsked(RecoveryAction.valueOf(constant(name.substring("recovery-".length()))));
        }
        return new FaultCode.Plain(FaultCode.Kind.valueOf(constant(name)));
    }

    private static String kebab(Enum<?> word) {
        return word.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    private static String constant(String kebab) {
        return kebab.toUpperCase(java.util.Locale.ROOT).replace('-', '_');
    }
}
