import ArgumentParser
import Satchel

do {
  var command = try SatchelTool.parseAsRoot()
  try command.run()
} catch {
  Terminal.finish(with: error)
}
