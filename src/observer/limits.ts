/*
 * From where on a change is a finding. What differs from one cluster to the next is a flag of its own: --grace and --poll. Measured is what
 * Kubernetes 1.35 has shown on a real control plane; defaults are those of its programs, from 1.32 to 1.37.
 */

/**
 * A sweep: writes to so many objects that change no address, within this time. It is over where that is of fewer than half as many. A
 * controller writes nothing where nothing has changed, so that few are enough; a person who labels some by hand is none. At its default of
 * 20 writes a second it has the objects in one second.
 */
export const SWEEP_OBJECTS = 20
export const SWEEP_WITHIN_MS = 30_000

/**
 * A backlog: so many Services wait at once, the first of them for so long. A controller has 5 workers by default: ten are two rounds of them.
 * Measured: slices follow a pod after 4 to 5 ms, and seldom after a second.
 */
export const BACKLOG_SERVICES = 10
export const BACKLOG_AFTER_MS = 5_000
/** The queue grows where its first has waited longer than the mean of the last so many lags, by this factor: a batch period is none. */
export const BACKLOG_LAGS = 20
export const BACKLOG_GROWTH = 1.2

/** What the controller manager has said of itself is told for so long: its metrics are read each 5 s, within 10 s. */
export const MANAGER_FRESH_MS = 20_000

/** Two writers: each has put back its own content, within this time. A program that syncs each minute, or each five, does so. */
export const UNDO_WITHIN_MS = 600_000

/** A pod flaps: it has turned not ready so often within this time. A restart in place is one turn, and its roll back the second. */
export const FLAPS = 3
export const FLAPS_WITHIN_MS = 300_000
/** Pods of a Service are restarted in rotation: so many, or all where it has fewer, with no longer time between two. */
export const RESTARTED_PODS = 3
export const RESTARTED_WITHIN_MS = 300_000
/** A container that fails its probes since it was told to end has stopped within this. */
export const STOPS_WITHIN_MS = 15_000
/** An entry flaps: having come back, it has stayed no longer than this. It is told once within the time above. */
export const ENTRY_STAYS_MS = 30_000

/**
 * A node is not ready and its pods turn not ready, with no longer time between the two. By default the node controller looks each 5 s, and
 * calls a node late after 50 s (40 s before 1.32).
 */
export const HEARTBEAT_WITHIN_MS = 60_000
/** The pods of a node do not turn at once: each is a request, of 20 a second by default. */
export const HEARTBEAT_COLLECT_MS = 3_000
/** A machine that is taken away falls silent, and its node goes within this time. */
export const NODE_GOES_WITHIN_MS = 60_000

/** What changes later than this follows something else. */
export const FOLLOWS_WITHIN_MS = 600_000

/** The lags of a Service that is gone are told for so long. */
export const LAGS_KEPT_MS = 3_600_000
