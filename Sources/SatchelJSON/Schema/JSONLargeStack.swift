#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Continues a deep recursion on a thread with a large stack: the caller's may be small, and a stack overflow
/// would terminate the host.
///
/// The deepest documents need 1.5 MB of stack, 6 MB without optimization, and with this one less than 64 kB of
/// the caller's; it costs a thread for each of them. Measured: PROFILES.md, "What own code gains".
enum JSONLargeStack {
  /// The number of nested schemas on the caller's stack.
  static let calls = 32
  /// The stack size in bytes. Memory is used only as far as the recursion goes.
  private static let size = 32 << 20

  private final class Work {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread and waits for it.
  ///
  /// - Returns: false when no thread can be created; `body` was not run then
  static func run(_ body: () -> Void) -> Bool {
    withoutActuallyEscaping(body) { body in
      var attributes = pthread_attr_t()
      guard pthread_attr_init(&attributes) == 0 else { return false }
      defer { pthread_attr_destroy(&attributes) }
      guard pthread_attr_setstacksize(&attributes, size) == 0 else { return false }
      let work = Unmanaged.passRetained(Work(body))
      guard let thread = start(&attributes, work.toOpaque()) else {
        work.release()
        return false
      }
      pthread_join(thread, nil)
      return true
    }
  }

  private static func start(
    _ attributes: inout pthread_attr_t, _ work: UnsafeMutableRawPointer
  ) -> pthread_t? {
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(
        &thread, &attributes,
        { work in
          Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run()
          return nil
        }, work)
      return code == 0 ? thread : nil
    #else
      var thread = pthread_t()
      let code = pthread_create(
        &thread, &attributes,
        { work in
          if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
          return nil
        }, work)
      return code == 0 ? thread : nil
    #endif
  }
}
