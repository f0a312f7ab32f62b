/** What happens to a new object before it is stored: defaults, the rules of pods, registered webhooks. */
@NullMarked
package io.gpufleet.compose.kubeapi.admission;

import org.jspecify.annotations.NullMarked;
