setup.midnight = () => Engine.play("Ghost");
