/** The roles that members can have. */
import { roleGrants } from '../../api/generated/tables.ts'

export type Role = keyof typeof roleGrants
export const roleNames = Object.keys(roleGrants) as Role[]
