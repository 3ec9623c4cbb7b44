// Differences between C libraries, in one place.
#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#else
  @_exported import Darwin
#endif

/// A thread of the library.
package struct SystemThread {
  private var thread: pthread_t

  /// Starts a thread that runs `body`; nil when the system cannot create one.
  ///
  /// - Parameter inheritsWork: whether the thread works for the same subjects as the one that starts it, which waits for
  ///   it; see `HostWork`
  package init?(inheritsWork: Bool = true, _ body: @escaping @Sendable () -> Void) {
    final class Body: Sendable {
      let run: @Sendable () -> Void
      init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    let work = inheritsWork ? HostWork.inherited : []
    let context = Unmanaged.passRetained(
      Body {
        HostWork.inherit(work)
        body()
      }
    ).toOpaque()
    #if canImport(Darwin)
      var started: pthread_t?
      let code = pthread_create(
        &started, nil,
        { context in
          Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
          return nil
        }, context)
      guard code == 0, let started else {
        Unmanaged<Body>.fromOpaque(context).release()
        return nil
      }
      thread = started
    #else
      thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { context in
          if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
          return nil
        }, context)
      guard code == 0 else {
        Unmanaged<Body>.fromOpaque(context).release()
        return nil
      }
    #endif
  }

  /// Whether the calling thread is this one.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// Detaches the thread; it cannot be joined afterwards.
  package func detach() { pthread_detach(thread) }

  /// Waits until the thread has ended.
  package func join() { pthread_join(thread, nil) }
}

extension stat {
  /// The time of the last change of content (mtime), which any program may set.
  package var contentTime: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }

  /// The time of the last change of content or metadata (ctime), which no program can set.
  package var changeTime: timespec {
    #if canImport(Darwin)
      st_ctimespec
    #else
      st_ctim
    #endif
  }
}

extension timespec {
  /// Unix nanoseconds, for comparison with other such values only: times after the year 2262 wrap around.
  package var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }
}

/// Asks the kernel for huge pages (Linux) for a new allocation of 4 MiB or more: page faults of 4 KiB each
/// would take as long as reading a file into it.
package func preferLargePages(_ start: UnsafeMutableRawPointer, _ size: Int) {
  #if os(Linux)
    guard size >= 4 << 20 else { return }
    let page = UInt(getpagesize())
    let first = (UInt(bitPattern: start) + page - 1) & ~(page - 1)
    let end = (UInt(bitPattern: start) + UInt(size)) & ~(page - 1)
    // Only advice: a failure has no consequence.
    _ = madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_HUGEPAGE)
  #endif
}
