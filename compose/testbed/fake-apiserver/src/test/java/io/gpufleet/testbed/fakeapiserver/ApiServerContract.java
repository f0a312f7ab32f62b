package io.gpufleet.testbed.fakeapiserver;

import org.junit.jupiter.api.TestInstance;

/**
 * What gpufleet expects of a Kubernetes API server; runs on the fake and on a real one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
interface ApiServerContract
        extends ObjectsContract, PatchContract, ApplyContract, PodContract, ReviewContract, WebhookContract {
    @Override
    TestObjects testObjects();
}
