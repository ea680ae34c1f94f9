import { checkFields } from './check-fields.ts'
import { httpFields } from './fields.ts'

/** A message may have a second line: the way out. */
export const httpOptions = httpFields.superRefine((options, context) => {
  for (const { path, message } of checkFields(options)) context.addIssue({ code: 'custom', path, message })
})
