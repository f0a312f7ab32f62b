package io.gpufleet.allocation.model.quota;

import java.util.ArrayList;
import java.util.List;

/** Kinds of devices that count on a limit. Case does not matter. */
public sealed interface GpuSelector {
    /** Kinds of devices; what is empty or {@code *} is any. */
    record Kinds(String model, String product, String migProfile, String resource) implements GpuSelector {
        /** An empty field matches any value. */
        public Kinds {
            model = model.isEmpty() ? QuotaLimit.ANY : model;
        }

        @Override
        public boolean matches(GpuOffer offer, boolean unknown) {
            return equal(model, offer.model(), unknown)
                    && equal(product, offer.product(), unknown)
                    && (migProfile.isEmpty() || migProfile.equalsIgnoreCase(offer.migProfile()))
                    && equal(resource, offer.resource(), unknown);
        }

        private static boolean equal(String wanted, String found, boolean unknown) {
            return wanted.isEmpty()
                    || wanted.equals(QuotaLimit.ANY)
                    || (found.isEmpty() || found.equals(GpuOffer.UNKNOWN) ? unknown : wanted.equalsIgnoreCase(found));
        }

        /** True for every kind of device. */
        boolean isAny() {
            return equals(new Kinds(QuotaLimit.ANY, "", "", ""));
        }

        @Override
        public String id() {
            List<String> parts = new ArrayList<>();
            if (!model.equals(QuotaLimit.ANY) || isAny()) {
                parts.add(model);
            }
            addIfGiven(parts, "product", product);
            addIfGiven(parts, "migProfile", migProfile);
            addIfGiven(parts, "resource", resource);
            return String.join(" ", parts);
        }

        private static void addIfGiven(List<String> parts, String key, String value) {
            if (!value.isEmpty()) {
                parts.add(key + "=" + value);
            }
        }
    }

    /** Every kind of device that none of the others selects. */
    record Others(List<Kinds> named) implements GpuSelector {
        /** Copies. */
        public Others {
            named = List.copyOf(named);
        }

        @Override
        public boolean matches(GpuOffer offer, boolean unknown) {
            return named.stream().noneMatch(kinds -> kinds.matches(offer, !unknown));
        }

        @Override
        public String id() {
            return "others";
        }
    }

    /** True when a device of the kind counts; {@code unknown} is the answer where that depends on what is not known. */
    boolean matches(GpuOffer offer, boolean unknown);

    /** Text that tells it from the other selectors of a quota. */
    String id();
}
