/** Admission of objects: defaults, validation of pods, registered webhooks. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.admission;

import org.jspecify.annotations.NullMarked;
