import Foundation

/// This test program, started once more to run one test in a role.
package final class OtherProcess {
  private static let key = "SATCHEL_TEST_ROLE"
  private let process = Process()

  /// - Parameters:
  ///   - test: suite and function of the test that plays the role
  ///   - name: which of several it is
  package init(_ test: String, _ role: String, _ name: String, _ path: String) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--testing-library", "swift-testing", "--filter", test]
    process.environment = ProcessInfo.processInfo.environment.merging([
      Self.key: "\(role) \(name) \(path)",
      // Its temporary files are deleted with those of this process.
      "TMPDIR": TemporaryDirectory.all.path(percentEncoded: false),
    ]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  deinit { kill() }

  /// - Returns: whether it still ran
  @discardableResult package func kill() -> Bool {
    guard process.isRunning else { return false }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal
  }

  /// Waits for the end.
  ///
  /// - Returns: whether all went well
  package func finish() -> Bool {
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// The role of this process; nil in the first one.
  package static func role(_ role: String) -> (name: String, path: String)? {
    let parts = ProcessInfo.processInfo.environment[key]?.split(separator: " ", maxSplits: 2).map(String.init)
    guard let parts, parts.count == 3, parts[0] == role else { return nil }
    return (parts[1], parts[2])
  }
}
