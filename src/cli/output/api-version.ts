/** The apiVersion of every JSON document that sluice prints. */
export const API_VERSION = 'sluice.dev/v1'
