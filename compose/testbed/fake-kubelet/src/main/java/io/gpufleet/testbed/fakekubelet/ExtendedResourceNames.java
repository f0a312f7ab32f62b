package io.gpufleet.testbed.fakekubelet;

import java.util.regex.Pattern;

/** Kubernetes' rule for names of extended resources. */
final class ExtendedResourceNames {
    private static final Pattern NAME =
            Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");

    private ExtendedResourceNames() {}

    /** True when a name is domain-prefixed, not reserved by Kubernetes, and no quota name. */
    static boolean isValid(String name) {
        return NAME.matcher(name).matches()
                && !name.startsWith("requests.")
                && !name.substring(0, name.indexOf('/')).endsWith("kubernetes.io");
    }
}
