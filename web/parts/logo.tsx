/** A raised gate between two posts, and the water that runs out under it. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden focusable="false">
      <rect width="24" height="24" rx="6" fill="var(--mantine-color-tide-7)" />
      <path d="M6 5v14M18 5v14" stroke="#fff" strokeWidth="2" strokeLinecap="round" opacity=".55" />
      <rect x="7.5" y="5" width="9" height="6.5" rx="1.2" fill="#fff" />
      <path
        d="M8 15c1.35-1.2 2.65-1.2 4 0s2.65 1.2 4 0M8 18.6c1.35-1.2 2.65-1.2 4 0s2.65 1.2 4 0"
        fill="none"
        stroke="#fff"
        strokeWidth="1.7"
        strokeLinecap="round"
      />
    </svg>
  )
}
