/// Identifies a process, also after its id was reused.
package struct ProcessIdentity: Equatable, Sendable {
  /// Identifies the machine's boot.
  package var boot: String
  package var number: Int32
  /// The process's start time, in the unit of the system.
  package var start: String

  package static let current = ProcessIdentity(
    boot: ProcessPlatform.boot, number: getpid(), start: ProcessPlatform.start(of: getpid()) ?? "")
}

extension ProcessIdentity {
  /// Parses what `text` returned.
  package init?(text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let number = Int32(parts[1]), number > 0 else { return nil }
    self.init(boot: String(parts[0]), number: number, start: String(parts[2]))
  }

  package var text: String { "\(boot) \(number) \(start)" }

  /// Whether the process still runs; true when unknown.
  package var isAlive: Bool {
    if boot != Self.current.boot { return false }
    if kill(number, 0) != 0, errno == ESRCH { return false }
    guard let start = ProcessPlatform.start(of: number) else { return true }
    return start == self.start
  }
}

/// Reads boot id and start times; differs between systems.
enum ProcessPlatform {
  #if canImport(Darwin)
    static let boot: String = {
      var time = timeval()
      var size = MemoryLayout<timeval>.size
      return sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0 ? "\(time.tv_sec)" : "-"
    }()

    static func start(of process: Int32) -> String? {
      var name: [Int32] = [CTL_KERN, KERN_PROC, KERN_PROC_PID, process]
      var info = kinfo_proc()
      var size = MemoryLayout<kinfo_proc>.size
      guard sysctl(&name, 4, &info, &size, nil, 0) == 0, size > 0 else { return nil }
      let time = info.kp_proc.p_starttime
      return "\(time.tv_sec).\(time.tv_usec)"
    }
  #else
    static let boot: String = {
      let text = String(decoding: content("/proc/sys/kernel/random/boot_id") ?? [], as: UTF8.self)
      let name = text.prefix { $0.isHexDigit || $0 == "-" }
      return name.isEmpty ? "-" : String(name)
    }()

    /// Reads field 22 of the process's line, counted after the name, which may contain any bytes.
    static func start(of process: Int32) -> String? {
      guard let line = content("/proc/\(process)/stat"), let name = line.lastIndex(of: UInt8(ascii: ")"))
      else {
        return nil
      }
      let fields = line[(name + 1)...].split(separator: UInt8(ascii: " "))
      return fields.count > 19 ? String(decoding: fields[19], as: UTF8.self) : nil
    }

    private static func content(_ path: String) -> [UInt8]? {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
      return count > 0 ? Array(bytes.prefix(count)) : nil
    }
  #endif
}
