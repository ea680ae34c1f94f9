/*
 * The limits from which a change is a finding. --grace and --poll are flags, since their values differ between clusters. "Measured" stands
 * for a measurement of a real control plane of Kubernetes 1.35, "default" for the defaults of Kubernetes 1.32 to 1.37.
 */

/**
 * A sweep begins with writes to this many objects within this time that change nothing, and ends with fewer than half as many objects.
 * Controllers write nothing without a change, and make 20 writes a second by default: 20 objects are a second of their work, and more than
 * a person labels by hand.
 */
export const SWEEP_OBJECTS = 20
export const SWEEP_WITHIN_MS = 30_000

/**
 * A backlog begins when this many Services wait at once, and the first of them has waited this long. A controller has 5 workers by default:
 * ten Services are two rounds of them. Measured: slices follow a pod after 4 to 5 ms, and seldom after more than a second.
 */
export const BACKLOG_SERVICES = 10
export const BACKLOG_AFTER_MS = 5_000
/** A queue grows where its first Service has waited longer than this factor times the mean of the last 20 lags. A batch period does not. */
export const BACKLOG_LAGS = 20
export const BACKLOG_GROWTH = 1.2

/** Metrics of the controller manager count for this long, since a read comes every 5 s and takes at most 10 s. */
export const MANAGER_FRESH_MS = 20_000

/** Two writers undo each other where each has put back its content within this time. Programs often sync every one to five minutes. */
export const UNDO_WITHIN_MS = 600_000

/** A pod flaps where it turns not ready this often within this time. A restart in place is one turn, and its roll back a second. */
export const FLAPS = 3
export const FLAPS_WITHIN_MS = 300_000
/** Restarts in rotation are a finding from this many pods of a Service on, or both of two, with at most this time between two of them. */
export const RESTARTED_PODS = 3
export const RESTARTED_WITHIN_MS = 300_000
/** A container that fails its probes because it was told to end stops within this time. */
export const STOPS_WITHIN_MS = 15_000
/** An entry flaps where it leaves rotation within this time after it came back. An entry has at most one finding in FLAPS_WITHIN_MS. */
export const ENTRY_STAYS_MS = 30_000

/**
 * Pods are lost with the heartbeat of their node where both turn not ready with at most this time in between. By default the node
 * controller looks every 5 s, and calls a node late after 50 s (40 s before 1.32).
 */
export const HEARTBEAT_WITHIN_MS = 60_000
/** The pods of a node are collected for this long, since the node controller makes a request for each: 20 a second by default. */
export const HEARTBEAT_COLLECT_MS = 3_000
/** The node of a machine that is taken away falls silent, and is deleted within this time. */
export const NODE_GOES_WITHIN_MS = 60_000

/** A change that comes later than this follows another change. */
export const FOLLOWS_WITHIN_MS = 600_000

/** The summary keeps the lags of a Service that is gone for this long. */
export const LAGS_KEPT_MS = 3_600_000
