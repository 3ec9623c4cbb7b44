import Satchel

/// Draws graphs with Graphviz's program `dot`, if it is installed.
enum Graphviz {
  enum Failure: Error, CustomStringConvertible {
    case missing
    case timedOut(seconds: Int)
    case failed(String)

    var description: String {
      switch self {
      case .missing:
        "Graphviz, which draws the SVG, is not installed: apt install graphviz (or brew install graphviz)"
      case .timedOut(let seconds): "dot was stopped after \(seconds) s: the story is too large to draw"
      case .failed(let reason): "dot could not draw the story: \(reason)"
      }
    }
  }

  /// The maximum size of a picture, in bytes.
  private static let maxSize = 256 << 20

  static var isInstalled: Bool { (try? run(["-V"], input: "", seconds: 20)) != nil }

  /// Draws a graph as an SVG document.
  ///
  /// - Throws: `Failure`
  static func svg(_ dot: String, seconds: Int) throws -> String {
    try run(["-Tsvg"], input: dot, seconds: seconds)
  }

  private static func run(_ arguments: [String], input: String, seconds: Int) throws -> String {
    // Temporary files instead of pipes, which would need a reader and a writer at the same time.
    guard let source = tmpfile() else { throw Failure.failed(FileBytes.reason(errno)) }
    defer { fclose(source) }
    guard let target = tmpfile() else { throw Failure.failed(FileBytes.reason(errno)) }
    defer { fclose(target) }
    var input = input
    let written = input.withUTF8 { fwrite($0.baseAddress, 1, $0.count, source) }
    guard written == input.utf8.count, fflush(source) == 0 else {
      throw Failure.failed(FileBytes.reason(errno))
    }
    rewind(source)
    let process = try start(["dot"] + arguments, input: fileno(source), output: fileno(target))
    try wait(for: process, seconds: seconds)
    rewind(target)
    let bytes = try FileBytes.contents(of: fileno(target))
    guard bytes.count <= maxSize else { throw Failure.failed("the picture is too large") }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func start(_ arguments: [String], input: CInt, output: CInt) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    // Discards dot's warnings about fonts.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for argument in argv { free(argument) } }
    var process: pid_t = 0
    let status = posix_spawnp(&process, "dot", &actions, nil, &argv, environ)
    guard status != ENOENT else { throw Failure.missing }
    guard status == 0 else { throw Failure.failed(FileBytes.reason(status)) }
    return process
  }

  private static func wait(for process: pid_t, seconds: Int) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    var pause: useconds_t = 500
    while true {
      var status: CInt = 0
      let ended = waitpid(process, &status, WNOHANG)
      if ended == process {
        guard status == 0 else { throw Failure.failed("it ended with status \(status >> 8 & 0xFF)") }
        return
      }
      if ended < 0, errno != EINTR { throw Failure.failed(FileBytes.reason(errno)) }
      if ContinuousClock.now > end {
        kill(process, SIGKILL)
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        throw Failure.timedOut(seconds: seconds)
      }
      usleep(pause)
      pause = min(pause * 2, 20_000)
    }
  }
}
