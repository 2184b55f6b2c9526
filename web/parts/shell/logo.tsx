/** A raised gate between two posts, and the water that runs out under it. */
export function Logo({ size }: { size: number }) {
  return (
    <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden focusable="false">
      <rect width="24" height="24" rx="6" fill="#0f6d83" />
      <path d="M6 5v9M18 5v9" stroke="#fff" strokeWidth="2" strokeLinecap="round" />
      <rect x="8.5" y="4.5" width="7" height="6.5" rx="1.2" fill="#fff" />
      <path
        d="M4.5 17.6c1.9-1.7 3.6-1.7 5.5 0 .7.6 1.3 1 2 1s1.3-.4 2-1c1.9-1.7 3.6-1.7 5.5 0"
        fill="none"
        stroke="#9bdbe8"
        strokeWidth="2"
        strokeLinecap="round"
      />
    </svg>
  )
}
