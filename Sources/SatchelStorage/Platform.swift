// What differs between C libraries, in one place.
#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#else
  @_exported import Darwin
#endif

/// A thread of the library's own.
package struct SystemThread {
  private var thread: pthread_t

  /// Starts a thread that runs `body`; nil when the system has none to give.
  package init?(_ body: @escaping @Sendable () -> Void) {
    final class Body: Sendable {
      let run: @Sendable () -> Void
      init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    let work = HostWork.inherited
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

  /// Whether this is the thread that asks.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// Lets the thread end by itself; nobody may join it then.
  package func detach() { pthread_detach(thread) }

  /// Waits until the thread has ended.
  package func join() { pthread_join(thread, nil) }
}

extension stat {
  /// When the file's content was written, as anybody may set it.
  package var contentTime: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }

  /// When anything of the file was written, which nobody can set.
  package var changeTime: timespec {
    #if canImport(Darwin)
      st_ctimespec
    #else
      st_ctim
    #endif
  }
}

extension timespec {
  /// Unix nanoseconds, to be compared with others only: times beyond the year 2262 wrap around.
  package var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }
}

/// Asks for large pages where memory that was just allocated is so large that handing out small ones, one by one, would
/// take as long as reading a file into it.
package func preferLargePages(_ start: UnsafeMutableRawPointer, _ size: Int) {
  #if os(Linux)
    guard size >= 4 << 20 else { return }
    let page = UInt(getpagesize())
    let first = (UInt(bitPattern: start) + page - 1) & ~(page - 1)
    let end = (UInt(bitPattern: start) + UInt(size)) & ~(page - 1)
    // Advice: that it cannot be followed is no failure.
    _ = madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_HUGEPAGE)
  #endif
}
