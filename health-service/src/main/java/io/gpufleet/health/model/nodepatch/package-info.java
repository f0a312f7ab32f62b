/**
 * The desired and the observed Node, and the patch that follows from their difference. Knows no
 * Kubernetes client.
 */
@NullMarked
package io.gpufleet.health.model.nodepatch;

import org.jspecify.annotations.NullMarked;
