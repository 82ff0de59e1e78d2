/** The list of sources. */
import { custom } from './custom/custom.ts'
import { shopify } from './shopify/shopify.ts'
import type { Source } from './source.ts'
import { woocommerce } from './woocommerce/woocommerce.ts'

export const sources: readonly Source[] = [custom, shopify, woocommerce]

export const commonPlatform = custom.platform

/** Platforms without their own source send the common format. */
export const sourceOf = (platform: string): Source => sources.find((source) => source.platform === platform) ?? custom
