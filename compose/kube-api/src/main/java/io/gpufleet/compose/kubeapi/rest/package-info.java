/** The verbs of the API on objects, collections and subresources, and the HTTP door before them. */
@NullMarked
package io.gpufleet.compose.kubeapi.rest;

import org.jspecify.annotations.NullMarked;
