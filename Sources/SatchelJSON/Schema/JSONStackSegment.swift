#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A stack of its own for what goes deep: the thread that calls the library may have a small one, and a recursion
/// that meets its end kills the host.
enum JSONStackSegment {
  /// How many schemas at work inside each other one stack holds, the caller's too.
  static let calls = 32
  /// Bytes, many times what that many need.
  private static let size = 2 << 20

  private final class Work {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Runs something on another thread and waits for it.
  ///
  /// - Returns: false when the system has no thread to give; nothing was run then.
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
