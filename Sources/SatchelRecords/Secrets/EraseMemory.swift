import SatchelStorage

/// Overwrites memory in a way that the compiler may not leave out.
func eraseMemory(_ memory: UnsafeMutableRawBufferPointer) {
  guard let start = memory.baseAddress else { return }
  #if canImport(Darwin)
    memset_s(start, memory.count, 0, memory.count)
  #else
    explicit_bzero(start, memory.count)
  #endif
}
