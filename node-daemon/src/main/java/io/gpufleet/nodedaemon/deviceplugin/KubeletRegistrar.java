package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import java.util.concurrent.CompletionStage;

/** Registers a resource with the kubelet. All calls on one event loop. */
interface KubeletRegistrar {
    /** Completes when the kubelet has registered the resource; fails with its error. */
    CompletionStage<?> register(KubeletSocket.Present kubelet);

    /** Handles a reading of kubelet.sock. */
    void socketObserved(KubeletSocket seen);
}
