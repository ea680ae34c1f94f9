import { checkFields } from './check-fields.ts'
import { httpFields } from './fields.ts'

/** The options with all checks. The second line of a message is optional and tells the solution. */
export const httpOptions = httpFields.superRefine((options, context) => {
  for (const { path, message } of checkFields(options)) context.addIssue({ code: 'custom', path, message })
})
