package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.KubeletSocket;
import io.vertx.core.Future;

/** How a kubelet is brought to open its stream; all calls on one context. */
interface Way {
    /** Done when the kubelet has taken the resource; fails with what it said. */
    Future<?> register(KubeletSocket.Present kubelet);

    /** The kubelet's directory was looked at. */
    void looked(KubeletSocket seen);
}
