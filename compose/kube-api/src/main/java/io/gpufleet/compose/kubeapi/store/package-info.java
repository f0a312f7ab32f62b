/** All objects in memory under one counter of revisions, with the changes that watches replay. */
@NullMarked
package io.gpufleet.compose.kubeapi.store;

import org.jspecify.annotations.NullMarked;
