package io.gpufleet.nodedaemon.settings;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Imex;
import io.gpufleet.nodedaemon.model.settings.MigStrategy;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Means;
import io.gpufleet.nodedaemon.model.settings.SharePlan.SharedResource;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Settings that are being put together: each layer writes over what the layers before it wrote. */
final class SettingsDraft {
    MigStrategy mig = MigStrategy.NONE;
    Means means = Means.NONE;
    boolean renameByDefault;
    boolean failGreaterThanOne;
    List<SharedResource> shared = List.of();
    String mpsRoot = SharePlan.NONE.mpsRoot();
    ReplicaOrder order = ReplicaOrder.DISTRIBUTED;
    Set<Strategy> strategies = AllocateSettings.STANDARD.strategies();
    IdNames names = IdNames.UUID;
    boolean passDeviceSpecs;
    final Set<Extra> extras = EnumSet.noneOf(Extra.class);
    boolean imexChannel;
    boolean imexRequired;
    String cdiAnnotationPrefix = AllocateSettings.STANDARD.cdiAnnotationPrefix();
    String driverRoot;
    boolean libraryPath;
    boolean preStart;
    XidOverrides xids = XidOverrides.NONE;
    final List<Note> notes = new ArrayList<>();

    SettingsDraft(String driverRoot) {
        this.driverRoot = driverRoot;
    }

    void extra(Extra extra, boolean wanted) {
        if (wanted) {
            extras.add(extra);
        } else {
            extras.remove(extra);
        }
    }

    /** What the health checks leave out: {@code all}, {@code xids} (the same here) or numbers. */
    void ignoredXids(List<String> words) {
        boolean all = words.contains("all") || words.contains("xids");
        xids = new XidOverrides(all, xids.allEnforced(), all ? Set.of() : Words.xids(words), xids.enforced());
    }

    /** What they withdraw for in any case: {@code all} or numbers. */
    void enforcedXids(List<String> words) {
        boolean all = words.contains("all");
        xids = new XidOverrides(xids.allIgnored(), all, xids.ignored(), all ? Set.of() : Words.xids(words));
    }

    /** The settings; what contradicts itself is answered with an {@link IllegalArgumentException}. */
    PluginSettings settings() {
        var imex = !imexChannel ? Imex.OFF : imexRequired ? Imex.REQUIRED : Imex.OPTIONAL;
        return new PluginSettings(
                mig,
                new SharePlan(means, renameByDefault, failGreaterThanOne, shared, mpsRoot),
                order,
                new AllocateSettings(
                        strategies,
                        names,
                        passDeviceSpecs,
                        extras,
                        imex,
                        cdiAnnotationPrefix,
                        driverRoot,
                        libraryPath,
                        preStart),
                xids);
    }
}
